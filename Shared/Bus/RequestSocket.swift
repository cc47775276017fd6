internal import CZMQ
public import Loop
internal import Secrets
internal import Synchronization
public import Wire

/// Where a service takes requests and sends replies.
///
/// The socket is a CURVE server; who may connect is the ``ZAPHandler``'s decision, so one must run
/// in the context. The mode of a socket file comes from the process's umask, and a file left over
/// by an earlier run is replaced: hold the state lock before binding.
@ServiceLoop
public final class RequestSocket {
    /// Where it listens, with the port that the system chose.
    public let endpoint: String
    public private(set) var counts = RequestCounts()

    /// Connections to any socket of the process that were ended at once, as too few descriptors
    /// would have been left.
    public nonisolated static var refusedConnections: UInt64 {
        ConnectionLimit.refused.load(ordering: .relaxed)
    }

    let socket: Socket
    private let limits: BusLimits

    public init(
        context: Context, endpoint: Endpoint, identity: CurveKeyPair, limits: BusLimits = .init()
    ) throws(BusError) {
        let socket = try Socket(.router, in: context)
        try socket.secureServer(identity, domain: .requests)
        try socket.limit(limits)
        try socket.set(ZMQ_BACKLOG, limits.backlog)
        try socket.set(ZMQ_ROUTER_HANDOVER, 0)
        // Without it a reply to a peer that is gone, or reads too slowly, would vanish uncounted.
        try socket.set(ZMQ_ROUTER_MANDATORY, 1)
        try socket.bind(endpoint.text)
        self.endpoint = socket.lastEndpoint ?? endpoint.text
        self.socket = socket
        self.limits = limits
    }

    /// Takes requests that wait, without waiting for any.
    ///
    /// - Parameter limit: how many at most; the others stay in libzmq's queue, which is bounded.
    public func receive(limit: Int) -> [Incoming] {
        var requests: [Incoming] = []
        for _ in 0..<limit {
            switch receiveOne() {
            case .request(let request): requests.append(request)
            case .anonymous: counts.unidentified += 1
            case .nothing: return requests
            }
        }
        return requests
    }

    /// Sends a reply, or drops and counts it where the peer is gone or does not read.
    public func send(_ reply: ReplyFrames, to route: [UInt8]) {
        let sending = socket.send(
            route: route, plain: [reply.header, reply.body], attachments: reply.attachments)
        switch sending {
        case .sent: counts.replies += 1
        case .full: counts.repliesToSlowPeers += 1
        case .vanished: counts.repliesToVanishedPeers += 1
        }
    }

    private enum Reception {
        case request(Incoming)
        /// A message without the key of its sender, which a CURVE server should never see.
        case anonymous
        case nothing
    }

    private func receiveOne() -> Reception {
        var route: [UInt8] = []
        var more = false
        let received: Void? = socket.receive { frame in
            route = frame.bytes
            more = frame.more
        }
        guard received != nil else { return .nothing }
        var assembly = FrameAssembly(plainCount: 3, limits: limits)
        var peer: PeerKey?
        while more {
            let received: Void? = socket.receive { frame in
                if peer == nil { peer = frame.peer }
                frame.withBytes { assembly.take($0) }
                more = frame.more
            }
            if received == nil { break }
        }
        assembly.finish()
        if !Self.isAutomatic(route) { assembly.refuse(.identity) }
        guard let peer else { return .anonymous }
        return .request(incoming(assembly, route: route, peer: peer))
    }

    private func incoming(
        _ assembly: FrameAssembly, route: [UInt8], peer: PeerKey
    ) -> Incoming {
        counts.requests += 1
        let header = assembly.plain.first ?? []
        if let fault = assembly.fault {
            counts.refused += 1
            return Incoming(route: route, peer: peer, header: header, content: .failure(fault))
        }
        let request = RequestFrames(
            header: header, token: assembly.plain[1], body: assembly.plain[2],
            attachments: assembly.attachments)
        return Incoming(route: route, peer: peer, header: header, content: .success(request))
    }

    /// Whether libzmq made the routing id: five bytes, the first of them zero.
    ///
    /// A client's own id can be taken over by another client, who would get the replies.
    private static func isAutomatic(_ route: [UInt8]) -> Bool {
        route.count == 5 && route.first == 0
    }
}

/// A request as it came in.
public struct Incoming: Sendable {
    /// Where the reply goes.
    public let route: [UInt8]
    /// Who sent it, as the handshake proved.
    public let peer: PeerKey
    /// The header as far as it came, so that a refusal can name the request; else empty.
    public let header: [UInt8]
    /// The frames, or why they are no request: `malformed`, `oversize` or `identity`.
    public let content: Result<RequestFrames, BusFault>

    public init(
        route: [UInt8], peer: PeerKey, header: [UInt8],
        content: Result<RequestFrames, BusFault>
    ) {
        self.route = route
        self.peer = peer
        self.header = header
        self.content = content
    }
}

/// What passed through a request socket since it was made.
public struct RequestCounts: Equatable, Sendable {
    public internal(set) var requests: UInt64 = 0
    /// Requests whose frames were too many, too large or not in the form.
    public internal(set) var refused: UInt64 = 0
    /// Messages dropped because no key came with them.
    public internal(set) var unidentified: UInt64 = 0
    public internal(set) var replies: UInt64 = 0
    public internal(set) var repliesToVanishedPeers: UInt64 = 0
    public internal(set) var repliesToSlowPeers: UInt64 = 0
}
