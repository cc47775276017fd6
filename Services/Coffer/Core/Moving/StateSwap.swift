internal import Clocks
internal import Glibc
internal import Home
internal import StateFolders
internal import WholeFiles

/// Another state in the place of a home's, at one instant.
///
/// The new state is made in a folder of its own beside the present one and bears a mark. Then the
/// two folders exchange their names, which is one step of the file system: a home has the old state
/// or the new one, whatever ends this program. What is left to do after the step, or to undo before
/// it, is told by where the mark lies, and done by the next command that has to do with states.
struct StateSwap {
    private let home: Home

    private static let incoming = "state-incoming"
    private static let state = "state"
    private static let mark = "arrived"
    private static let lock = "lock"

    init(_ home: Home) { self.home = home }

    /// Where the new state is made.
    var incomingPath: String { "\(home.path)/\(Self.incoming)" }

    /// Finishes or undoes what a command that was killed left.
    func recover() throws(CommandFailure) {
        let hasIncoming = isThere(incomingPath)
        let isDone = isThere("\(home.statesPath)/\(Self.mark)")
        if hasIncoming {
            if isThere("\(incomingPath)/\(Self.mark)") {
                try discardIncoming()
            } else if isDone || !FolderTree.names(in: incomingPath).isEmpty {
                _ = try setAside()
            } else {
                try FolderTree.remove(incomingPath)
            }
        }
        if isDone { try removeMark() }
    }

    /// Makes the folder for the new state, with mode, owner and group of the present one.
    func begin() throws(CommandFailure) {
        var present = stat()
        guard lstat(home.statesPath, &present) == 0 else { throw failure(home.statesPath) }
        guard mkdir(incomingPath, 0o700) == 0,
            lchown(incomingPath, present.st_uid, present.st_gid) == 0,
            chmod(incomingPath, present.st_mode & 0o7777) == 0
        else { throw failure(incomingPath) }
        try changing { () throws(StateFolderError) in
            try PrivateFile.create("\(incomingPath)/\(Self.mark)")
            try PrivateFile.syncParent(of: incomingPath)
        }
    }

    /// Forgets the new state.
    func discardIncoming() throws(CommandFailure) {
        // The mark goes last: without it nobody knew what the folder is.
        try FolderTree.remove(incomingPath, last: Self.mark)
        try changing { () throws(StateFolderError) in
            try PrivateFile.syncParent(of: incomingPath)
        }
    }

    /// Puts the new state in the place of the present one.
    ///
    /// - Returns: where the state of before is now; nil where there was none.
    func commit() throws(CommandFailure) -> String? {
        try naming { () throws(WholeFileError) in
            try WholeFiles.exchange(Self.incoming, with: Self.state, in: home.path)
        }
        let aside = try setAside()
        try removeMark()
        return aside
    }

    /// Whether a home has a state that is worth keeping: more than folders and locks.
    static func isState(_ path: String) -> Bool {
        FolderTree.names(in: path).contains { name in
            FolderTree.names(in: "\(path)/\(name)").contains { $0 != lock }
        }
    }

    /// Gives the state of before, which has the name of the incoming one by now, a name to stay.
    private func setAside() throws(CommandFailure) -> String? {
        guard Self.isState(incomingPath) else {
            try FolderTree.remove(incomingPath)
            return nil
        }
        let name = "state-before-\(SystemWallClock().milliseconds)"
        try naming { () throws(WholeFileError) in
            try WholeFiles.rename(Self.incoming, to: name, in: home.path)
        }
        return "\(home.path)/\(name)"
    }

    private func removeMark() throws(CommandFailure) {
        let path = "\(home.statesPath)/\(Self.mark)"
        guard unlink(path) == 0 || errno == ENOENT else { throw failure(path) }
        try changing { () throws(StateFolderError) in
            try PrivateFile.syncParent(of: path)
        }
    }

    private func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    private func failure(_ path: String) -> CommandFailure {
        CommandFailure(.stateFailed, "\(path): \(String(cString: strerror(errno))).")
    }

    private func changing(
        _ body: () throws(StateFolderError) -> Void
    ) throws(CommandFailure) {
        do throws(StateFolderError) { try body() } catch {
            throw CommandFailure(.stateFailed, error.sentence)
        }
    }

    private func naming(_ body: () throws(WholeFileError) -> Void) throws(CommandFailure) {
        do throws(WholeFileError) { try body() } catch {
            throw CommandFailure(.stateFailed, "\(error).")
        }
    }
}

/// A folder of folders of files.
private enum FolderTree {
    /// The names in a folder; none where it cannot be read or is none.
    static func names(in path: String) -> [String] {
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

    /// Removes it with all that is in it.
    static func remove(_ path: String, last: String? = nil) throws(CommandFailure) {
        for name in names(in: path) where name != last {
            let entry = "\(path)/\(name)"
            var status = stat()
            guard lstat(entry, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { try remove(entry) } else { unlink(entry) }
        }
        if let last { unlink("\(path)/\(last)") }
        guard rmdir(path) == 0 || errno == ENOENT else {
            throw CommandFailure(
                .stateFailed, "\(path) cannot be removed: \(String(cString: strerror(errno))).")
        }
    }
}
