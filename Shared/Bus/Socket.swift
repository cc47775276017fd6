internal import CZMQ
internal import Glibc
internal import Secrets
internal import Wire

/// A ZeroMQ socket, used by one thread at a time and closed when its last holder lets go.
final class Socket {
    enum Kind {
        case router, dealer, publisher, subscriber, reply, request, pair

        var number: Int32 {
            switch self {
            case .router: ZMQ_ROUTER
            case .dealer: ZMQ_DEALER
            case .publisher: ZMQ_PUB
            case .subscriber: ZMQ_SUB
            case .reply: ZMQ_REP
            case .request: ZMQ_REQ
            case .pair: ZMQ_PAIR
            }
        }
    }

    /// What became of an attempt to send a frame.
    enum Sending {
        case sent
        /// The queue of the receiver is full.
        case full
        /// The receiver is not there.
        case vanished
    }

    private let context: Context
    let handle: UnsafeMutableRawPointer

    /// A socket that drops at its end what was not sent.
    init(_ kind: Kind, in context: Context) throws(BusError) {
        guard let handle = zmq_socket(context.handle, kind.number) else {
            throw .exhausted(code: zmq_errno())
        }
        self.context = context
        self.handle = handle
        try set(ZMQ_LINGER, 0)
    }

    deinit { zmq_close(handle) }

    func set(_ option: Int32, _ value: Int) throws(BusError) {
        var number = Int32(clamping: value)
        try set(option, &number, MemoryLayout<Int32>.size)
    }

    func set(_ option: Int32, _ value: Int64) throws(BusError) {
        var number = value
        try set(option, &number, MemoryLayout<Int64>.size)
    }

    func set(_ option: Int32, _ bytes: [UInt8]) throws(BusError) {
        let code = bytes.withUnsafeBytes {
            zmq_setsockopt(handle, option, $0.baseAddress, $0.count)
        }
        guard code == 0 else { throw .unsupported(option: option, code: zmq_errno()) }
    }

    func set(_ option: Int32, _ secret: borrowing SecretBytes) throws(BusError) {
        try secret.withBytes { buffer throws(BusError) in
            try set(option, buffer.baseAddress, buffer.count)
        }
    }

    private func set(
        _ option: Int32, _ value: UnsafeRawPointer?, _ count: Int
    ) throws(BusError) {
        guard zmq_setsockopt(handle, option, value, count) == 0 else {
            throw .unsupported(option: option, code: zmq_errno())
        }
    }

    func bind(_ endpoint: String) throws(BusError) {
        guard zmq_bind(handle, endpoint) == 0 else {
            throw .endpoint(endpoint, code: zmq_errno())
        }
    }

    /// Listens there no longer, from the return on; closing alone takes effect a little later.
    func unbind(_ endpoint: String) { zmq_unbind(handle, endpoint) }

    func connect(_ endpoint: String) throws(BusError) {
        guard zmq_connect(handle, endpoint) == 0 else {
            throw .endpoint(endpoint, code: zmq_errno())
        }
    }

    /// What the socket is bound to, with the port that the system chose.
    var lastEndpoint: String? {
        var text = [UInt8](repeating: 0, count: 512)
        var count = text.count
        guard zmq_getsockopt(handle, ZMQ_LAST_ENDPOINT, &text, &count) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Receives a frame if one waits, and lends it.
    ///
    /// - Returns: nil where none waits.
    func receive<R>(_ body: (borrowing Frame) -> R) -> R? {
        let frame = Frame()
        var code: Int32
        repeat {
            code = zmq_msg_recv(frame.message, handle, ZMQ_DONTWAIT)
        } while code < 0 && zmq_errno() == EINTR
        return code < 0 ? nil : body(frame)
    }

    /// Sends a copy of the bytes.
    func send(_ bytes: [UInt8], more: Bool) -> Sending {
        bytes.withUnsafeBytes { buffer in
            attempt(more: more) { zmq_send(handle, buffer.baseAddress, buffer.count, $0) }
        }
    }

    /// Sends secret bytes as they lie in secret memory, where they are wiped once libzmq has
    /// encrypted or dropped them.
    func send(secret bytes: SharedSecret, more: Bool) -> Sending {
        let frame = Frame(holding: bytes)
        return attempt(more: more) { zmq_msg_send(frame.message, handle, $0) }
    }

    private func attempt(more: Bool, _ call: (Int32) -> Int32) -> Sending {
        let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
        while call(flags) < 0 {
            switch zmq_errno() {
            case EINTR: continue
            case EAGAIN: return .full
            default: return .vanished
            }
        }
        return .sent
    }
}

/// One message part in libzmq's memory.
struct Frame: ~Copyable {
    fileprivate let message: UnsafeMutablePointer<zmq_msg_t>

    /// An empty one, to receive into.
    fileprivate init() {
        message = .allocate(capacity: 1)
        zmq_msg_init(message)
    }

    /// One that lends its bytes to libzmq until it calls back, from whichever thread is the last.
    fileprivate init(holding secret: SharedSecret) {
        message = .allocate(capacity: 1)
        let holder = Unmanaged.passRetained(secret)
        // The bytes of the arena stay where they are for as long as the holder lives.
        let code = secret.bytes.withBytes { bytes in
            zmq_msg_init_data(
                message, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count,
                { _, holder in
                    guard let holder else { return }
                    Unmanaged<SharedSecret>.fromOpaque(holder).release()
                }, holder.toOpaque())
        }
        precondition(code == 0, "no memory for a message")
    }

    deinit {
        zmq_msg_close(message)
        message.deallocate()
    }

    /// Whether another part follows.
    var more: Bool { zmq_msg_more(message) != 0 }

    /// Lends the bytes, which end with the frame.
    func withBytes<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
        body(UnsafeMutableRawBufferPointer(start: zmq_msg_data(message), count: count))
    }

    var count: Int { zmq_msg_size(message) }

    var bytes: [UInt8] { withBytes { Array($0) } }

    /// The peer that the ZAP handler named; nil on a socket without one.
    var peer: PeerKey? {
        guard let text = zmq_msg_gets(message, "User-Id") else { return nil }
        return PeerKey(String(cString: text))
    }
}

/// Whole messages.
extension Socket {
    /// Receives all parts of a message if one waits.
    ///
    /// - Returns: nil where none waits; no part at all where there were more, or more bytes in a
    ///   part, than the limits allow.
    func receiveMessage(partLimit: Int, byteLimit: Int) -> [[UInt8]]? {
        var parts: [[UInt8]] = []
        var isAcceptable = true
        var more = true
        while more {
            let received: Void? = receive { frame in
                more = frame.more
                isAcceptable = isAcceptable && frame.count <= byteLimit && parts.count < partLimit
                if isAcceptable { parts.append(frame.bytes) }
            }
            guard received != nil else { return nil }
        }
        return isAcceptable ? parts : []
    }

    /// Sends all parts; a message is sent whole or not at all.
    @discardableResult
    func sendMessage(_ parts: [[UInt8]]) -> Sending {
        for (index, part) in parts.enumerated() {
            let sending = send(part, more: index < parts.count - 1)
            guard sending == .sent else { return sending }
        }
        return .sent
    }
}
