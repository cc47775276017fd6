internal import ChildProcesses
internal import Glibc
internal import Home
internal import Secrets
internal import StateFolders
internal import Wire

/// Stores as bytes: no command looks into them.
enum StoreFile {
    /// Has the program of a service bring a store to rest.
    ///
    /// - Parameter words: what the program is told beside its name.
    static func settle(
        _ service: ServiceName, _ words: [String], by programs: [ServiceName: String]
    ) throws(CommandFailure) {
        guard let program = programs[service], let child = ChildProcess([program] + words) else {
            throw CommandFailure(
                .stateFailed, "The program of \(service.text) cannot be started.")
        }
        switch child.wait() {
        case 0: return
        case ExitCode.damaged.rawValue:
            throw CommandFailure(
                .damagedFile, "The store of \(service.text) is damaged; nothing was changed.")
        default:
            throw CommandFailure(
                .stateFailed,
                "\(service.text) said why its store cannot be used; nothing was changed.")
        }
    }

    static func size(_ path: String) -> Int? {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Hands over a file of exactly so many bytes, in pieces.
    static func read(
        _ path: String, bytes: Int, _ body: (borrowing SecretBytes) throws -> Void
    ) throws {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw failure(path) }
        defer { close(file) }
        var left = bytes
        while left > 0 {
            let piece = try SecretBytes(count: min(left, SealedState.chunkBytes)) { target in
                var filled = 0
                while filled < target.count {
                    let got = Glibc.read(
                        file, target.baseAddress.map { $0 + filled }, target.count - filled)
                    if got < 0 && errno == EINTR { continue }
                    guard got > 0 else { throw failure(path) }
                    filled += got
                }
            }
            try body(piece)
            left -= piece.count
        }
    }

    /// Makes a file of so many bytes, durably.
    ///
    /// - Parameter next: the next bytes, at most as many as it is asked for.
    static func write(
        _ path: String, bytes: Int, from next: (Int) throws -> SecretBytes
    ) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(path) }
        defer { close(file) }
        var left = bytes
        while left > 0 {
            let piece = try next(left)
            try piece.withBytes { piece in
                var rest = piece
                while !rest.isEmpty {
                    let count = Glibc.write(file, rest.baseAddress, rest.count)
                    if count < 0 && errno == EINTR { continue }
                    guard count > 0 else { throw failure(path) }
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                }
            }
            left -= piece.count
        }
        guard fsync(file) == 0 else { throw failure(path) }
        do throws(StateFolderError) { try PrivateFile.syncParent(of: path) } catch {
            throw CommandFailure(.stateFailed, error.sentence)
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(.stateFailed, "\(path): \(String(cString: strerror(errno))).")
    }
}
