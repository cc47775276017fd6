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
}
