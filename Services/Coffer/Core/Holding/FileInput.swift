internal import Glibc
internal import Secrets

/// Reads files that a command line names.
///
/// A named pipe or a device may never give a byte, so only ordinary files are read; and what is
/// open already, by the names that shells have for it, such as `/dev/fd/63` of `<(command)`.
enum FileInput {
    /// The bytes of a file, at most one more than `limit`, which tells that there are too many.
    static func bytes(_ path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
        let file = try opened(path)
        defer { close(file) }
        return try bytes(of: file, named: path, limit: limit)
    }

    /// The same of a file that is open, which stays so.
    static func bytes(
        of file: Int32, named path: String, limit: Int
    ) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: min(limit + 1, 65_536))
        while bytes.count <= limit {
            let got = block.withUnsafeMutableBytes { some(of: file, into: $0) }
            guard got >= 0 else { throw unreadable(path) }
            guard got > 0 else { break }
            bytes += block[..<min(got, limit + 1 - bytes.count)]
        }
        return bytes
    }

    /// The same, in secret memory alone.
    static func secret(_ path: String, limit: Int) throws(CommandFailure) -> SecretBytes {
        let file = try opened(path)
        defer { close(file) }
        var buffer = SecretBytes(count: limit + 1)
        var count = 0
        while count < buffer.count {
            let got = buffer.withMutableBytes { bytes in
                some(of: file, into: .init(rebasing: bytes[count...]))
            }
            guard got >= 0 else { throw unreadable(path) }
            guard got > 0 else { break }
            count += got
        }
        return buffer.slice(0..<count)
    }

    private static func opened(_ path: String) throws(CommandFailure) -> Int32 {
        let isOpenAlready =
            path == "/dev/stdin" || path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/")
        // Not to wait for the other end of a pipe.
        let file = open(path, O_RDONLY | O_CLOEXEC | (isOpenAlready ? 0 : O_NONBLOCK))
        guard file >= 0 else { throw unreadable(path) }
        var status = stat()
        guard fstat(file, &status) == 0 else {
            defer { close(file) }
            throw unreadable(path)
        }
        guard isOpenAlready || status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw CommandFailure(.fileUnreadable, "\(path) is no ordinary file.")
        }
        return file
    }

    /// How many bytes came: zero at the end, and -1 with `errno` where reading failed.
    private static func some(
        of file: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        while true {
            let got = read(file, buffer.baseAddress, buffer.count)
            guard got < 0 && errno == EINTR else { return got }
        }
    }

    private static func unreadable(_ path: String) -> CommandFailure {
        CommandFailure(
            .fileUnreadable, "\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
}
