import Glibc

/// A plain socket, as somebody has it who does not speak ZeroMQ.
final class UnixSocket: Sendable {
    let descriptor: Int32

    init?(connectingTo path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard Self.name(path, { connect(descriptor, $0, $1) }) == 0 else { return nil }
    }

    init?(bindingTo path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard Self.name(path, { bind(descriptor, $0, $1) }) == 0 else { return nil }
    }

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Lets others connect, and never says a word to them.
    func listen() { _ = Glibc.listen(descriptor, 5) }

    /// Waits for somebody who connects; nil when it was stopped.
    func accept() -> UnixSocket? {
        let other = Glibc.accept(descriptor, nil, nil)
        return other >= 0 ? UnixSocket(other) : nil
    }

    /// Whoever waits on it waits no longer.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Sends all of it.
    func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    private static func name(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
