internal import CRename
internal import Glibc

/// An open folder; names are looked up in it, wherever it is moved.
final class Folder {
    let path: String
    let descriptor: Int32

    init(_ path: String) throws(WholeFileError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .notWritten(path: path, code: errno) }
    }

    deinit { close(descriptor) }

    func path(of name: String) -> String {
        path == "." ? name : path.hasSuffix("/") ? "\(path)\(name)" : "\(path)/\(name)"
    }

    /// Whether anything has the name, a link that leads nowhere too.
    func has(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT
    }

    /// Gives a file or folder another name that nothing has.
    func rename(_ old: String, to new: String) throws(WholeFileError) {
        switch coffer_rename_without_replacing(descriptor, old, new) {
        case 0: return
        case EEXIST: throw .exists(path: path(of: new))
        case EINVAL, ENOSYS, ENOTSUP: try link(old, as: new)
        case let code: throw .notWritten(path: path(of: new), code: code)
        }
    }

    /// Gives each of two folders the other's name, at one instant.
    func exchange(_ one: String, _ other: String) throws(WholeFileError) {
        let code = coffer_exchange_names(descriptor, one, other)
        guard code == 0 else { throw .notWritten(path: path(of: one), code: code) }
    }

    /// Brings the names to the disk.
    func flush() throws(WholeFileError) {
        // A file system that cannot is one that has no need to.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw .notWritten(path: path, code: errno)
        }
    }

    func remove(_ name: String) { unlinkat(descriptor, name, 0) }

    func removeFolder(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

    /// For file systems that do not know how to rename without replacing.
    private func link(_ old: String, as new: String) throws(WholeFileError) {
        guard linkat(descriptor, old, descriptor, new, 0) == 0 else {
            let code = errno
            throw code == EEXIST
                ? .exists(path: path(of: new)) : .notWritten(path: path(of: new), code: code)
        }
        remove(old)
    }

    // MARK: What killed writers left

    /// Removes the parts that no living writer has a lock on, and nothing that no writer made.
    func sweep() {
        for name in names() where PartName.isOurs(name) {
            let part = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard part >= 0 else { continue }
            defer { close(part) }
            guard flock(part, LOCK_EX | LOCK_NB) == 0 else { continue }
            switch Self.made(part) {
            case .file: remove(name)
            case .folder: sweepFolder(name)
            case nil: continue
            }
        }
    }

    /// Removes a folder that was to appear with its files.
    ///
    /// It stays as it is where it holds anything that a writer does not make.
    private func sweepFolder(_ name: String) {
        guard let part = try? Folder(path(of: name)) else { return }
        let files = part.names()
        guard files.allSatisfy(part.isOfAWriter) else { return }
        for file in files { part.remove(file) }
        removeFolder(name)
    }

    private func isOfAWriter(_ name: String) -> Bool {
        let part = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard part >= 0 else { return false }
        defer { close(part) }
        return Self.made(part) == .file
    }

    private enum Made {
        case file
        case folder
    }

    /// What a writer of this user makes and looks like this; nil for all else.
    private static func made(_ descriptor: Int32) -> Made? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else { return nil }
        switch status.st_mode & (S_IFMT | 0o777) {
        case S_IFREG | 0o600 where status.st_nlink <= 2: return .file
        case S_IFDIR | 0o700: return .folder
        default: return nil
        }
    }

    private func names() -> [String] {
        guard let list = opendir(path) else { return [] }
        defer { closedir(list) }
        var names: [String] = []
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
