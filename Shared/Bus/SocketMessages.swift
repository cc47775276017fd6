internal import Secrets
internal import Wire

/// Messages with attachments.
extension Socket {
    /// Sends plain frames, then each attachment in its framing.
    ///
    /// - Parameter route: whom a router sends to; nil on a socket with one peer.
    func send(route: [UInt8]?, plain: [[UInt8]], attachments: [SharedSecret]) -> Sending {
        if let route {
            let sending = send(route, more: true)
            guard sending == .sent else { return sending }
        }
        let last = plain.count + attachments.count - 1
        for (index, part) in plain.enumerated() {
            let sending = send(part, more: index < last)
            guard sending == .sent else { return sending }
        }
        for (index, attachment) in attachments.enumerated() {
            let frame = SharedSecret(AttachmentFrame.encode(attachment.bytes))
            let sending = send(secret: frame, more: index < attachments.count - 1)
            guard sending == .sent else { return sending }
        }
        return .sent
    }
}
