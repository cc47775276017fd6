internal import Bus
internal import Clocks
internal import Home
internal import Serving
internal import StateFolders
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
        do { try StateFolder.check(path: home.statePath(of: S.name)) } catch {
            throw .refused(error.sentence)
        }
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
    ///
    /// With `json` there is one object on standard output, `error` where there is no health.
    func probe(_ home: Home, json: Bool) throws(ProgramError) {
        let health: HealthReply
        do throws(ProgramError) {
            health = try askHealth(home)
        } catch {
            if json {
                var writer = JSONWriter()
                writer.object("error") { error.shownRefusal.write(to: &$0) }
                say(String(decoding: writer.finish(), as: UTF8.self))
            }
            throw error
        }
        say(json ? String(decoding: health.encoded(), as: UTF8.self) : Self.table(health))
        guard health.healthy else { throw .failed("The service is not healthy.") }
    }

    private func askHealth(_ home: Home) throws(ProgramError) -> HealthReply {
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
            return try link.exchange(frames, timeoutMilliseconds: Self.probeMilliseconds)
                .answer(to: Health<TagOf<S>>.self).reply
        } catch let fault as BusFault {
            var error = ProgramError.unreachable(
                "\(fault.meaning) Start it with `deploy/launch up`.")
            error.refusal = fault.refusal
            throw error
        } catch {
            var failed = ProgramError.failed("The probe was refused: \(error).")
            failed.refusal = error as? Refusal
            throw failed
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
}
