public import Glibc

/// Files and folders that belong to this user alone.
public enum PrivateFile {
    /// What an entry has to be.
    public enum Kind {
        case folder
        case file

        /// The mode that it may have at most.
        var mode: UInt32 { self == .folder ? 0o700 : 0o600 }

        fileprivate var type: mode_t { self == .folder ? S_IFDIR : S_IFREG }
    }

    /// Refuses a link, another type, another owner and a looser mode.
    ///
    /// - Parameter owner: whose it must be; this user's own where it is left out.
    public static func check(
        _ status: stat, _ path: String, is kind: Kind, of owner: uid_t = geteuid()
    ) throws(StateFolderError) {
        let type = status.st_mode & S_IFMT
        guard type != S_IFLNK else { throw .symbolicLink(path) }
        guard type == kind.type else { throw kind == .folder ? .notAFolder(path) : .notAFile(path) }
        guard status.st_uid == owner else {
            throw .foreignOwner(path, found: status.st_uid, wanted: owner)
        }
        let mode = status.st_mode & 0o777
        guard mode & ~kind.mode == 0 else { throw .loose(path, found: mode, wanted: kind.mode) }
    }

    /// The same for a file at a path, if there is one.
    public static func checkIfPresent(_ path: String) throws(StateFolderError) {
        guard let status = try status(of: path) else { return }
        try check(status, path, is: .file)
    }

    /// The file's length in bytes, nil if there is none.
    public static func size(of path: String) throws(StateFolderError) -> Int? {
        try status(of: path).map { Int($0.st_size) }
    }

    /// Creates an empty file of mode 0600 and makes its name durable.
    public static func create(_ path: String) throws(StateFolderError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed(path, errno: errno) }
        Glibc.close(descriptor)
        try syncParent(of: path)
    }

    /// Makes the names in the folder that holds `path` durable.
    public static func syncParent(of path: String) throws(StateFolderError) {
        var parent = "."
        if let slash = path.lastIndex(of: "/") {
            parent = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed(parent, errno: errno) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .failed(parent, errno: errno) }
    }

    /// The status of the entry itself, not of what a link points to; nil if there is none.
    public static func status(of path: String) throws(StateFolderError) -> stat? {
        var status = stat()
        if lstat(path, &status) == 0 { return status }
        guard errno == ENOENT else { throw .failed(path, errno: errno) }
        return nil
    }
}
