internal import Bus
internal import Clocks
internal import Home
internal import Serving
internal import Storage
internal import Wire

/// Names a service in the requests that every service answers.
private enum TagOf<S: Service>: ServiceTag {
    static var service: ServiceName { S.name }
}

extension ServiceProgram {
    private static var probeMilliseconds: UInt64 { 2_000 }

    /// Checks settings, keys and folders, and says so.
    func checkConfiguration(_ home: Home) throws(ProgramError) {
        _ = try Installation(home: home, service: S.name, calls: calls)
        let folder = PeerFolder(path: home.peersPath)
        do {
            let listing = try folder.list()
            for problem in listing.problems { complain("\(S.name.text): \(problem)") }
            guard listing.problems.isEmpty else {
                throw ProgramError.refused("The entries named above admit nobody.")
            }
        } catch let error as ProgramError {
            throw error
        } catch {
            throw .refused("\(error).")
        }
        say("\(S.name.text): settings, keys and folders are in order.")
    }

    /// Asks the running service how it is, with its own key.
    func probe(_ home: Home, json: Bool) throws(ProgramError) {
        let installation = try Installation(home: home, service: S.name, calls: [])
        guard let clock = SystemBootClock(), let owner = Owner("local") else {
            throw .failed("The kernel tells no boot id.")
        }
        do {
            let link = BlockingLink(
                context: try Context(), endpoint: installation.endpoint,
                serverKey: installation.identity.publicKey, identity: installation.identity,
                clock: clock)
            let options = CallOptions(
                owner: owner, timeoutMilliseconds: Self.probeMilliseconds)
            let frames = RequestFrames(
                Health<TagOf<S>>(), id: 1, options: options, attachments: [])
            let health = try link.exchange(frames, timeoutMilliseconds: Self.probeMilliseconds)
                .answer(to: Health<TagOf<S>>.self).reply
            say(json ? String(decoding: health.encoded(), as: UTF8.self) : Self.table(health))
            guard health.healthy else {
                throw ProgramError.failed("The service is not healthy.")
            }
        } catch let error as ProgramError {
            throw error
        } catch let fault as BusFault {
            throw .unreachable(
                "\(fault.meaning) Start it with `deploy/launch up`.")
        } catch {
            throw .failed("The probe was refused: \(error).")
        }
    }

    private static func table(_ health: HealthReply) -> String {
        """
        service  \(health.service)
        version  \(health.version)
        healthy  \(health.healthy ? "yes" : "no: \(health.problem ?? "")")
        up       \(health.upMilliseconds / 1_000) s
        owners   \(health.owners)
        schema   \(health.schema)
        """
    }

    /// Moves what the stopped service keeps of an owner into a file beside its store.
    func purge(_ home: Home, owner: Owner) throws(ProgramError) {
        let folder: StateFolder
        do { folder = try StateFolder(path: home.statePath(of: S.name)) } catch {
            throw .refused(error.sentence)
        }
        let store = try openStore(folder)
        let aside = folder.path(
            of: "aside-\(owner.text)-\(SystemWallClock().milliseconds).sqlite")
        let tables = S.ownerTables + [OutcomeJournal.ownerTable]
        do {
            _ = try store.run("VACUUM INTO ?1", .text(aside))
            let copy = try Database(path: aside, schema: S.schema)
            try copy.write {
                for table in tables { _ = try copy.run(table.keep, .text(owner.text)) }
                copy.oweErasure()
            }
            try copy.commitBatch()
            copy.close()
            try store.write {
                for table in tables { _ = try store.run(table.delete, .text(owner.text)) }
                store.oweErasure()
            }
            try store.commitBatch()
        } catch {
            throw .failed("The owner could not be moved aside; nothing was deleted.")
        }
        say(aside)
    }
}
