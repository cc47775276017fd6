internal import CZMQ
public import Loop
internal import Secrets

/// Where a service tells events to other services.
///
/// A subscriber that does not read loses events, and notices by their running numbers.
@ServiceLoop
public final class Publisher {
    /// Where it listens, with the port that the system chose.
    public let endpoint: String

    private let socket: Socket
    private let loop: BusLoop
    private let source: BusLoop.Source

    public init(
        loop: BusLoop, context: Context, endpoint: Endpoint, identity: CurveKeyPair,
        limits: BusLimits = .init()
    ) throws(BusError) {
        let socket = try Socket(.publisher, in: context)
        try socket.secureServer(identity, domain: .events)
        try socket.limit(limits)
        try socket.set(ZMQ_BACKLOG, limits.backlog)
        try socket.bind(endpoint.text)
        self.endpoint = socket.lastEndpoint ?? endpoint.text
        self.socket = socket
        self.loop = loop
        // A publisher has nothing to read, but a look at it takes in new subscriptions at once.
        source = loop.add(socket) {}
    }

    /// Sends an event to every subscriber that is connected now.
    public func publish(_ frames: [[UInt8]]) { socket.sendMessage(frames) }

    /// Stops listening.
    public func close() { loop.remove(source) }
}
