internal import Clocks
internal import Glibc
internal import Home
internal import Serving
internal import StateFolders
internal import Storage
internal import Wire

extension ServiceProgram {
    /// Moves what the stopped service keeps of an owner into a store of its own beside the other.
    ///
    /// The copy is whole and durable before anything is deleted; a kill in between leaves the owner
    /// in both. Where it keeps nothing of the owner, nothing is made and it says `nothing`.
    func purge(_ home: Home, owner: Owner) throws(ProgramError) {
        guard access(home.storePath(of: S.name), F_OK) == 0 || errno != ENOENT else {
            return say(Self.nothing)
        }
        try becomeOwner(of: home.statePath(of: S.name))
        let folder = try stateFolder(home)
        let aside = "aside-\(owner.text)-\(SystemWallClock().milliseconds).sqlite"
        let tables = S.ownerTables + [OutcomeJournal.ownerTable]
        do {
            // Closed once, so that all of it is in the one file.
            let whole = try openStore(folder)
            let knowsOwner = try whole.hasRows(of: owner, in: tables)
            whole.close()
            guard knowsOwner else { return say(Self.nothing) }
            try folder.copy(Home.storeName, to: aside)
            let copy = try Database(path: folder.path(of: aside), schema: S.schema)
            try Self.delete(tables.map(\.keep), owner, in: copy)
            copy.close()
            let store = try openStore(folder)
            try Self.delete(tables.map(\.delete), owner, in: store)
            store.close()
        } catch let error as ProgramError {
            throw error
        } catch let error as StateFolderError {
            throw .failed(error.sentence)
        } catch let error as StorageError {
            throw ProgramError(storage: error, path: folder.path)
        } catch {
            throw .failed("The owner could not be moved aside.")
        }
        say(folder.path(of: aside))
    }

    private static var nothing: String { "nothing" }

    private static func delete(
        _ statements: [StaticString], _ owner: Owner, in store: Database
    ) throws {
        try store.write {
            for statement in statements { _ = try store.run(statement, .text(owner.text)) }
            store.oweErasure()
        }
        try store.commitBatch()
    }
}
