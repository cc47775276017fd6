public import Bus
public import Serving

// The real bus fits the ports that a service's host asks for as it is.

extension RequestSocket: ReplyPort {}
extension PeerTable: PeerDirectory {}
extension ServiceLink: FramePort {}
