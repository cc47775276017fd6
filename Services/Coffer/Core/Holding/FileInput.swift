internal import Glibc
internal import Secrets

/// Reads files that a command line names.
enum FileInput {
    /// The bytes of a file, at most one more than `limit`, which tells that there are too many.
    static func bytes(_ path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
        try secret(path, limit: limit).withBytes { Array($0) }
    }

    /// The same, in secret memory alone.
    static func secret(_ path: String, limit: Int) throws(CommandFailure) -> SecretBytes {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path) }
        defer { close(file) }
        var buffer = SecretBytes(count: limit + 1)
        var count = 0
        while count < buffer.count {
            let got = buffer.withMutableBytes { bytes in
                read(file, bytes.baseAddress.map { $0 + count }, bytes.count - count)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw unreadable(path) }
            guard got > 0 else { break }
            count += got
        }
        return buffer.slice(0..<count)
    }

    private static func unreadable(_ path: String) -> CommandFailure {
        CommandFailure(
            .fileUnreadable, "\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
}
