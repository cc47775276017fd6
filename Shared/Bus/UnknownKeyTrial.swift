public import Clocks
public import Wire

/// A service's test of its own door: it must not let an unknown key in.
///
/// libzmq admits everybody where no ZAP handler answers and its domain is not enforced, and says
/// nothing. A service tries itself before it serves, and ends on any verdict but `refused`.
public enum UnknownKeyTrial {
    public enum Verdict: Equatable, Sendable {
        /// The ZAP handler refused the key and said so.
        case refused
        /// The key was let in.
        case admitted
        /// The connection was ended without a word: no handler answers, so nobody can be admitted.
        case endedSilently
        /// Nothing was decided in time.
        case undecided
    }

    /// Connects with a new key that nobody knows.
    ///
    /// - Parameters:
    ///   - endpoint: where the service is bound in fact, not a wildcard.
    ///   - forEvents: whether that is where it publishes events, and not where it takes requests.
    public static func run(
        endpoint: Endpoint, serverKey: PeerKey, forEvents: Bool = false, clock: any BootClock,
        timeoutMilliseconds: UInt64 = 5_000
    ) throws(BusError) -> Verdict {
        guard let identity = CurveKeyPair.generate() else { throw .exhausted(code: 0) }
        let target = ClientConnection.Target(
            endpoint: endpoint, serverKey: serverKey, identity: identity, limits: BusLimits())
        let connection = try ClientConnection(to: target, subscribing: forEvents, in: Context())
        let end = clock.now.nanoseconds + timeoutMilliseconds * 1_000_000
        while clock.now.nanoseconds < end {
            for event in connection.monitor.take() {
                switch event {
                case .handshakeSucceeded: return .admitted
                case .handshakeRefused: return .refused
                case .handshakeBroken, .handshakeInvalid: return .endedSilently
                case .connectFailed, .disconnected, .other: continue
                }
            }
            var items = [PollItem.reading(connection.monitor.socket)]
            PollItem.wait(for: &items, milliseconds: 50)
        }
        return .undecided
    }
}
