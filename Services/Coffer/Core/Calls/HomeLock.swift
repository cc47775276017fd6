internal import Glibc
internal import Home

/// One command at a time makes files of an installation: two that find the same key missing would
/// make two.
enum HomeLock {
    /// Waits until no other command holds the home.
    static func holding<R>(
        _ home: Home, _ body: () throws(CommandFailure) -> R
    ) throws(CommandFailure) -> R {
        let folder = open(home.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            throw CommandFailure(.installation, "\(home.path) cannot be opened.")
        }
        defer { close(folder) }
        while flock(folder, LOCK_EX) != 0 && errno == EINTR {}
        return try body()
    }
}
