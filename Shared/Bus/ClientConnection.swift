internal import CZMQ
internal import Secrets
internal import Wire

/// One CURVE connection of a client to one server, with its monitor.
final class ClientConnection {
    /// Whom a client connects to, and as whom.
    struct Target {
        let endpoint: Endpoint
        let serverKey: PeerKey
        let identity: CurveKeyPair
        let limits: BusLimits
    }

    let socket: Socket
    let monitor: SocketMonitor
    private(set) var state = ConnectionState()
    private let limits: BusLimits

    /// How long libzmq waits before it tries a dead endpoint again, at first and at most.
    private static let retryMilliseconds = 20
    private static let retryMillisecondsMax = 500

    /// - Parameter subscribing: whether to receive events and not replies.
    init(to target: Target, subscribing: Bool = false, in context: Context) throws(BusError) {
        socket = try Socket(subscribing ? .subscriber : .dealer, in: context)
        limits = target.limits
        try socket.secureClient(target.identity, serverKey: target.serverKey)
        try socket.limit(limits)
        // How many calls are under way is limited where they are made.
        try socket.set(ZMQ_SNDHWM, 0)
        try socket.set(ZMQ_RECONNECT_IVL, Self.retryMilliseconds)
        try socket.set(ZMQ_RECONNECT_IVL_MAX, Self.retryMillisecondsMax)
        if subscribing { try socket.set(ZMQ_SUBSCRIBE, []) }
        monitor = try SocketMonitor(watching: socket, in: context)
        try socket.connect(target.endpoint.text)
    }

    /// What has changed since the last look.
    func changes(at now: UInt64) -> [ConnectionState.Change] {
        monitor.take().compactMap { state.note($0, at: now) }
    }

    /// Hands a request to a connection that is ready.
    func send(_ request: RequestFrames) -> Bool {
        let plain = [request.header, request.token, request.body]
        return socket.send(route: nil, plain: plain, attachments: request.attachments) == .sent
    }

    /// A reply that waits, with the id of its request; nil where none waits.
    func receiveReply() -> Reply? {
        var assembly = FrameAssembly(plainCount: 2, limits: limits)
        var more = true
        while more {
            let received: Void? = socket.receive { frame in
                frame.withBytes { assembly.take($0) }
                more = frame.more
            }
            guard received != nil else { return nil }
        }
        assembly.finish()
        guard let first = assembly.plain.first, let header = try? ReplyHeader(decoding: first)
        else { return .unreadable }
        guard assembly.fault == nil else { return .reply(id: header.id, .failure(.badReply)) }
        let reply = ReplyFrames(
            header: first, body: assembly.plain[1], attachments: assembly.attachments)
        return .reply(id: header.id, .success(reply))
    }

    /// What a server sent.
    enum Reply {
        case reply(id: UInt64, Result<ReplyFrames, BusFault>)
        /// It names no request.
        case unreadable
    }

    /// Whether a server with these limits would take the request.
    static func fits(_ request: RequestFrames, _ limits: BusLimits) -> Bool {
        let plain = max(request.header.count, request.token.count, request.body.count)
        let attachment = request.attachments.map { $0.bytes.count }.max() ?? 0
        return max(plain, attachment) <= limits.frameBytes
            && request.attachments.count <= limits.attachmentCount
    }
}
