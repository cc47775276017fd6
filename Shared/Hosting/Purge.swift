internal import Clocks
internal import Home
internal import Serving
internal import Storage
internal import Wire

extension ServiceProgram {
    /// Moves what the stopped service keeps of an owner into a store of its own beside the other.
    ///
    /// The copy is whole and durable before anything is deleted; a kill in between leaves the owner
    /// in both.
    func purge(_ home: Home, owner: Owner) throws(ProgramError) {
        let folder: StateFolder
        do { folder = try StateFolder(path: home.statePath(of: S.name)) } catch {
            throw .refused(error.sentence)
        }
        let aside = "aside-\(owner.text)-\(SystemWallClock().milliseconds).sqlite"
        let tables = S.ownerTables + [OutcomeJournal.ownerTable]
        do {
            // Closed once, so that all of it is in the one file.
            try openStore(folder).close()
            try folder.copy("store.sqlite", to: aside)
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
