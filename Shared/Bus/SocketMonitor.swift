internal import CZMQ
internal import Synchronization

/// What libzmq tells about a client's connection.
enum SocketEvent: Equatable {
    /// Nobody listens: no such socket file, or refused.
    case connectFailed
    case handshakeSucceeded
    /// The server's ZAP handler said no; 400 is an unknown key.
    case handshakeRefused(status: UInt32)
    /// The server ended the connection within the handshake; libzmq tries again.
    case handshakeBroken
    /// The server did not speak the protocol or has another key; libzmq gives up.
    case handshakeInvalid
    case disconnected
    /// Anything that changes nothing.
    case other
}

/// The events of one socket, in the order in which they happened.
final class SocketMonitor {
    /// Readable when events wait.
    let socket: Socket
    private let watched: Socket

    private static let nextNumber = Atomic<UInt64>(0)

    init(watching watched: Socket, in context: Context) throws(BusError) {
        let number = Self.nextNumber.add(1, ordering: .relaxed).newValue
        let name = "inproc://coffer.monitor.\(number)"
        guard zmq_socket_monitor(watched.handle, name, Self.interest) == 0 else {
            throw .endpoint(name, code: zmq_errno())
        }
        socket = try Socket(.pair, in: context)
        // libzmq's thread waits for room in this queue, so it must have no end; events are few.
        try socket.set(ZMQ_RCVHWM, 0)
        try socket.connect(name)
        self.watched = watched
    }

    /// The sending end ends first: libzmq's thread would wait for a reader that is gone.
    deinit { zmq_socket_monitor(watched.handle, nil, 0) }

    /// Takes the events that wait.
    func take() -> [SocketEvent] {
        var events: [SocketEvent] = []
        while let parts = socket.receiveMessage(partLimit: 2, byteLimit: 4_096) {
            if let first = parts.first, let event = Self.event(first) { events.append(event) }
        }
        return events
    }

    private static let interest =
        ZMQ_EVENT_CLOSED | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED
        | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
        | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL

    /// Two bytes of kind and four of value, in the machine's byte order.
    private static func event(_ bytes: [UInt8]) -> SocketEvent? {
        guard bytes.count == 6 else { return nil }
        let (kind, value) = bytes.withUnsafeBytes {
            (
                $0.loadUnaligned(as: UInt16.self),
                $0.loadUnaligned(fromByteOffset: 2, as: UInt32.self)
            )
        }
        return switch Int32(kind) {
        case ZMQ_EVENT_CLOSED, ZMQ_EVENT_CONNECT_RETRIED: .connectFailed
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: .handshakeSucceeded
        case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: .handshakeRefused(status: value)
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: .handshakeBroken
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: .handshakeInvalid
        case ZMQ_EVENT_DISCONNECTED: .disconnected
        default: .other
        }
    }
}
