internal import Clocks
internal import Glibc
internal import Home
internal import Serving
internal import StateFolders
internal import Storage

/// What `coffer state` has done to stores by the programs of their services, while it holds the
/// locks of their folders.
extension ServiceProgram {
    /// Checks a store, makes the erasures that it owes, brings it up to date, and leaves all of it
    /// in the one file.
    func settle(_ folder: String) throws(ProgramError) {
        try becomeOwner(of: folder)
        try present(folder).close()
        try refuseLeftLog(folder)
    }

    /// The same for a store that comes from elsewhere; what the service does with such a one is
    /// done before.
    func arrive(_ folder: String, over standing: String?) throws(ProgramError) {
        try becomeOwner(of: folder)
        let arrived = try present(folder)
        if let arriving {
            guard let clock = SystemBootClock() else {
                throw .failed("The kernel tells no boot id.")
            }
            let present = try standing.flatMap(readable)
            do {
                try arriving(arrived, present, clock.now)
            } catch let error as StorageError {
                throw ProgramError(storage: error, path: folder)
            } catch {
                throw .failed("The store in \(folder) could not be taken in.")
            }
            present?.close()
        }
        arrived.close()
        try refuseLeftLog(folder)
    }

    /// Goes on as the user whose folder it is, where root started this: what the service keeps is
    /// looked at with the rights of the service, and what is made is the service's.
    func becomeOwner(of folder: String) throws(ProgramError) {
        var status = stat()
        guard geteuid() == 0, lstat(folder, &status) == 0, status.st_uid != 0 else { return }
        guard setgroups(0, nil) == 0, setgid(status.st_gid) == 0, setuid(status.st_uid) == 0
        else { throw .failed("The user whose \(folder) is cannot be taken on.") }
    }

    private func present(_ folder: String) throws(ProgramError) -> Database {
        let path = "\(folder)/\(Home.storeName)"
        guard access(path, F_OK) == 0 else { throw .refused("There is no store in `\(folder)`.") }
        do { return try Database(path: path, schema: S.schema) } catch {
            throw ProgramError(storage: error, path: folder)
        }
    }

    /// A store whose place is taken; nil where nothing can be learned from it.
    ///
    /// One of a newer release could be read by that release, so it is not passed over.
    private func readable(_ folder: String) throws(ProgramError) -> Database? {
        let path = "\(folder)/\(Home.storeName)"
        guard access(path, F_OK) == 0 else { return nil }
        do throws(StorageError) {
            return try Database(path: path, schema: S.schema)
        } catch {
            guard case .damaged = error else {
                throw ProgramError(storage: error, path: folder)
            }
            return nil
        }
    }

    /// A log that stays would be a part of the store that is not in its file.
    private func refuseLeftLog(_ folder: String) throws(ProgramError) {
        var status = stat()
        guard stat("\(folder)/\(Home.storeName)-wal", &status) != 0 || status.st_size == 0 else {
            throw .failed("The log of the store in \(folder) could not be emptied.")
        }
    }
}
