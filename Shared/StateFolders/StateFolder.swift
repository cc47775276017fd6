internal import Glibc
internal import Secrets

/// The folder that holds one service's state, locked for this process for as long as the value
/// lives.
///
/// The folder is 0700 and every file in it 0600, owned by this user; links are refused. A second
/// instance is refused before it reads anything. The lock belongs to an open file description, so
/// it ends with the process, however that ends.
public final class StateFolder: Sendable {
    /// The folder's path, without a slash at its end.
    public let path: String

    private let lock: Int32

    /// Makes the folder if it is missing, locks it, and checks what is in it.
    ///
    /// - Parameter path: the folder; the one that holds it must exist.
    public init(path: String) throws(StateFolderError) {
        let path = withoutTrailingSlashes(path)
        try makeFolder(path)
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw .failed(path, errno: errno) }
        defer { close(folder) }
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw .failed(path, errno: errno) }
        try PrivateFile.check(status, path, is: .folder)
        let lock = try takeLock(in: folder, path)
        do throws(StateFolderError) {
            try checkEntries(of: folder, path)
        } catch {
            close(lock)
            throw error
        }
        self.path = path
        self.lock = lock
    }

    deinit { close(lock) }

    /// Refuses what a start on this folder would refuse, and makes and locks nothing.
    ///
    /// A folder that is missing is in order where the start can make it. One that is in use is in
    /// order too: that is for the running service to say.
    public static func check(path: String) throws(StateFolderError) {
        let path = withoutTrailingSlashes(path)
        guard let status = try PrivateFile.status(of: path) else {
            let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            guard try PrivateFile.status(of: parent.isEmpty ? "/" : parent) != nil else {
                throw .noParent(path)
            }
            return
        }
        try PrivateFile.check(status, path, is: .folder)
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw .failed(path, errno: errno) }
        defer { close(folder) }
        try checkEntries(of: folder, path)
    }

    /// The path of an entry of the folder.
    public func path(of name: String) -> String { "\(path)/\(name)" }

    /// Copies a file of the folder, durably, under a name that is not taken.
    ///
    /// A store must be closed when it is copied.
    public func copy(_ name: String, to other: String) throws(StateFolderError) {
        let source = path(of: name)
        let target = path(of: other)
        let reading = open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard reading >= 0 else { throw .failed(source, errno: errno) }
        defer { close(reading) }
        try PrivateFile.create(target)
        let writing = open(target, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard writing >= 0 else { throw .failed(target, errno: errno) }
        defer { close(writing) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        defer { buffer.withUnsafeMutableBytes { wipe($0) } }
        while true {
            let count = read(reading, &buffer, buffer.count)
            guard count >= 0 else { throw .failed(source, errno: errno) }
            guard count > 0 else { break }
            guard write(writing, buffer, count) == count else {
                throw .failed(target, errno: errno)
            }
        }
        guard fsync(writing) == 0 else { throw .failed(target, errno: errno) }
    }
}

/// A slash at the end would make the system follow a link.
private func withoutTrailingSlashes(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
}

private func makeFolder(_ path: String) throws(StateFolderError) {
    if let status = try PrivateFile.status(of: path) {
        return try PrivateFile.check(status, path, is: .folder)
    }
    guard mkdir(path, 0o700) == 0 else {
        // Somebody else made it meanwhile: it is checked like any other.
        if errno == EEXIST { return }
        throw errno == ENOENT ? .noParent(path) : .failed(path, errno: errno)
    }
    try PrivateFile.syncParent(of: path)
}

private func takeLock(in folder: Int32, _ path: String) throws(StateFolderError) -> Int32 {
    let lockPath = "\(path)/\(lockName)"
    let lock = openat(folder, lockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard lock >= 0 else {
        throw errno == ELOOP ? .symbolicLink(lockPath) : .failed(lockPath, errno: errno)
    }
    do throws(StateFolderError) {
        var status = stat()
        guard fstat(lock, &status) == 0 else { throw .failed(lockPath, errno: errno) }
        try PrivateFile.check(status, lockPath, is: .file)
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .inUse(path) : .failed(lockPath, errno: errno)
        }
        return lock
    } catch {
        close(lock)
        throw error
    }
}

private let lockName = "lock"

/// Folders within are checked themselves; nobody else gets into them.
private func checkEntries(of folder: Int32, _ path: String) throws(StateFolderError) {
    let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw .failed(path, errno: errno) }
    guard let entries = fdopendir(copy) else {
        close(copy)
        throw .failed(path, errno: errno)
    }
    defer { closedir(entries) }
    while true {
        errno = 0
        guard let entry = readdir(entries) else { break }
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        guard name != ".", name != ".." else { continue }
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw .failed("\(path)/\(name)", errno: errno)
        }
        let kind: PrivateFile.Kind = status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
        try PrivateFile.check(status, "\(path)/\(name)", is: kind)
    }
    guard errno == 0 else { throw .failed(path, errno: errno) }
}
