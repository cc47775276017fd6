public import Glibc
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
    /// Whose it is, and of which group.
    public let owner: uid_t
    public let group: gid_t

    private let lock: Int32

    /// Makes the folder if it is missing, locks it, and checks what is in it.
    ///
    /// - Parameters:
    ///   - path: the folder; the one that holds it must exist.
    ///   - owner: whose it must be, with all that is in it. Only root has another's.
    public init(path: String, owner: uid_t = geteuid()) throws(StateFolderError) {
        let path = withoutTrailingSlashes(path)
        try makeFolder(path, of: owner)
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw .failed(path, errno: errno) }
        defer { close(folder) }
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw .failed(path, errno: errno) }
        try PrivateFile.check(status, path, is: .folder, of: owner)
        let lock = try takeLock(in: folder, path, of: status)
        do throws(StateFolderError) {
            try checkEntries(of: folder, path, of: owner)
        } catch {
            close(lock)
            throw error
        }
        self.path = path
        self.owner = owner
        group = status.st_gid
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
        try checkEntries(of: folder, path, of: geteuid())
    }

    /// Gives the folder with all that is in it to another user, as root may; the lock stays held.
    public func give(to owner: uid_t, group: gid_t) throws(StateFolderError) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw .failed(path, errno: errno) }
        defer { close(folder) }
        try forEachEntry(of: folder, path) { (name, _) throws(StateFolderError) in
            guard fchownat(folder, name, owner, group, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw .failed("\(path)/\(name)", errno: errno)
            }
        }
        guard fchown(folder, owner, group) == 0, fsync(folder) == 0 else {
            throw .failed(path, errno: errno)
        }
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

private func makeFolder(_ path: String, of owner: uid_t) throws(StateFolderError) {
    if let status = try PrivateFile.status(of: path) {
        return try PrivateFile.check(status, path, is: .folder, of: owner)
    }
    guard mkdir(path, 0o700) == 0 else {
        // Somebody else made it meanwhile: it is checked like any other.
        if errno == EEXIST { return }
        throw errno == ENOENT ? .noParent(path) : .failed(path, errno: errno)
    }
    try PrivateFile.syncParent(of: path)
}

/// - Parameter owner: the folder's status, whose owner and group the lock has too.
private func takeLock(
    in folder: Int32, _ path: String, of owner: stat
) throws(StateFolderError) -> Int32 {
    let lockPath = "\(path)/\(lockName)"
    let lock = openLock(in: folder, of: owner)
    guard lock >= 0 else {
        throw errno == ELOOP ? .symbolicLink(lockPath) : .failed(lockPath, errno: errno)
    }
    do throws(StateFolderError) {
        var status = stat()
        guard fstat(lock, &status) == 0 else { throw .failed(lockPath, errno: errno) }
        try PrivateFile.check(status, lockPath, is: .file, of: owner.st_uid)
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .inUse(path) : .failed(lockPath, errno: errno)
        }
        return lock
    } catch {
        close(lock)
        throw error
    }
}

/// Opens the lock; one that root has to make for another is that other's.
private func openLock(in folder: Int32, of owner: stat) -> Int32 {
    let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC
    guard owner.st_uid != geteuid() else {
        return openat(folder, lockName, flags | O_CREAT, 0o600)
    }
    let made = openat(folder, lockName, flags | O_CREAT | O_EXCL, 0o600)
    guard made >= 0 else { return errno == EEXIST ? openat(folder, lockName, flags) : made }
    // One that stays root's is refused by the check that follows.
    _ = fchown(made, owner.st_uid, owner.st_gid)
    return made
}

private let lockName = "lock"

/// Folders within are checked themselves; nobody else gets into them.
private func checkEntries(
    of folder: Int32, _ path: String, of owner: uid_t
) throws(StateFolderError) {
    try forEachEntry(of: folder, path) { (name, status) throws(StateFolderError) in
        let kind: PrivateFile.Kind = status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
        try PrivateFile.check(status, "\(path)/\(name)", is: kind, of: owner)
    }
}

/// Hands over each entry with its name and its status.
private func forEachEntry(
    of folder: Int32, _ path: String, _ body: (String, stat) throws(StateFolderError) -> Void
) throws(StateFolderError) {
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
        try body(name, status)
    }
    guard errno == 0 else { throw .failed(path, errno: errno) }
}
