internal import Clocks
public import Loop
internal import Secrets
public import Wire

/// A service's ear for another service's events.
///
/// It connects again by itself for as long as it is open, and tells when it was cut off: whoever
/// relies on events must ask anew then.
@ServiceLoop
public final class Subscriber {
    /// What there is to tell.
    public enum Notice: Equatable, Sendable {
        case connected
        /// The connection broke; events may be missed from here on.
        case disconnected
        /// The publisher does not know this key, or it is no service's.
        case unadmitted
        case event([[UInt8]])
    }

    private let loop: BusLoop
    private let context: Context
    private let target: ClientConnection.Target
    private let handler: @ServiceLoop (Notice) -> Void
    private var connection: ClientConnection?
    private var sources: [BusLoop.Source] = []
    private var isClosed = false

    private static let frameLimit = 8
    private static let eventsPerTurn = 256
    /// How long after a refusal it tries again.
    private static let retryMilliseconds: UInt64 = 1_000

    /// - Parameter handler: called on the loop; nothing comes before this initializer returns.
    public init(
        loop: BusLoop, context: Context, endpoint: Endpoint, serverKey: PeerKey,
        identity: CurveKeyPair, limits: BusLimits = .init(),
        handler: @escaping @ServiceLoop (Notice) -> Void
    ) {
        self.loop = loop
        self.context = context
        target = ClientConnection.Target(
            endpoint: endpoint, serverKey: serverKey, identity: identity, limits: limits)
        self.handler = handler
        connect()
    }

    /// Ends the connection.
    public func close() {
        isClosed = true
        disconnect()
    }

    private func connect() {
        guard let connection = try? ClientConnection(to: target, subscribing: true, in: context)
        else { return connectLater() }
        self.connection = connection
        sources = [
            loop.add(connection.socket) { [weak self] in self?.takeEvents() },
            loop.add(connection.monitor.socket) { [weak self] in self?.takeChanges() },
        ]
    }

    private func connectLater() {
        let timers = loop.timers
        ServiceLoop.start { [weak self] in
            await timers.sleep(milliseconds: Self.retryMilliseconds)
            guard let self, !isClosed, connection == nil else { return }
            connect()
        }
    }

    private func disconnect() {
        for source in sources { loop.remove(source) }
        sources = []
        connection = nil
    }

    private func takeEvents() {
        for _ in 0..<Self.eventsPerTurn {
            let event = connection?.socket.receiveMessage(
                partLimit: Self.frameLimit, byteLimit: target.limits.frameBytes)
            guard let event else { return }
            if !event.isEmpty { handler(.event(event)) }
        }
    }

    private func takeChanges() {
        for change in connection?.changes(at: loop.clock.now.nanoseconds) ?? [] {
            switch change {
            case .becameReady: handler(.connected)
            case .lost:
                // Events from before the break come before the news of it.
                takeEvents()
                handler(.disconnected)
            case .refused, .invalid:
                disconnect()
                handler(change == .refused ? .unadmitted : .disconnected)
                connectLater()
                return
            }
        }
    }
}
