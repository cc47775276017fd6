internal import Glibc

/// Looks at socket files of this machine.
enum SocketFile {
    /// Whether somebody accepts connections there, now.
    static func takesConnections(_ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { target in
            guard bytes.count < target.count else { return false }
            target.copyBytes(from: bytes)
            return true
        }
        guard fits else { return false }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return withUnsafeBytes(of: &address) { raw in
            guard let start = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return false
            }
            return connect(descriptor, start, socklen_t(raw.count)) == 0
        }
    }
}
