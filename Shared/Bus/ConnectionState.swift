/// What a client knows of its connection, from the events so far.
struct ConnectionState: Equatable {
    enum Phase: Equatable {
        /// Not there yet; libzmq tries and tries again.
        case connecting
        /// The handshake succeeded: what is sent now arrives, unless the connection breaks.
        case ready
        /// The server does not know this client's key; libzmq has given up.
        case refused
        /// Whoever listens there is not the server; libzmq has given up.
        case invalid
    }

    private(set) var phase = Phase.connecting
    /// Since when every attempt has failed, in nanoseconds of the boot clock.
    private(set) var failingSince: UInt64?

    /// What an event changed.
    enum Change: Equatable {
        case becameReady
        case lost
        case refused
        case invalid
    }

    mutating func note(_ event: SocketEvent, at now: UInt64) -> Change? {
        switch event {
        case .handshakeSucceeded:
            phase = .ready
            failingSince = nil
            return .becameReady
        case .handshakeRefused(status: 400):
            phase = .refused
            return .refused
        case .handshakeRefused, .handshakeInvalid:
            phase = .invalid
            return .invalid
        case .disconnected where phase == .ready:
            phase = .connecting
            failingSince = now
            return .lost
        case .connectFailed, .handshakeBroken, .disconnected:
            if phase == .connecting && failingSince == nil { failingSince = now }
            return nil
        case .other:
            return nil
        }
    }
}
