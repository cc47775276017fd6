internal import Bus
internal import Clocks
internal import Glibc
internal import Home
internal import Loop
internal import Secrets
internal import Serving
internal import StateFolders
internal import Storage
internal import Wire

extension ServiceProgram {
    /// How long requests under way may still take after SIGTERM, in milliseconds.
    private static var graceMilliseconds: UInt64 { 3_000 }

    /// Runs the service until SIGTERM or SIGINT.
    func serve(_ home: Home) throws(ProgramError) {
        let signals = StopSignals.block()
        let installation = try Installation(home: home, service: S.name, calls: calls)
        // Before anything of the state is read: a second instance ends here.
        let folder = try stateFolder(home)
        guard let clock = SystemBootClock() else { throw .failed("The kernel tells no boot id.") }
        let loop: BusLoop
        do { loop = try BusLoop.claim(clock: clock) } catch { throw .failed("\(error).") }
        try ServiceLoop.assumeIsolated { () throws(ProgramError) in
            let running = try start(installation, folder: folder, clock: clock, loop: loop)
            signals.onStop { loop.stop() }
            running.log.info("serving", ["version": .code(Version.text)])
            loop.run()
            running.drain(for: Self.graceMilliseconds)
            running.log.info("stopped")
        }
    }

    func stateFolder(_ home: Home) throws(ProgramError) -> StateFolder {
        do { return try StateFolder(path: home.statePath(of: S.name)) } catch {
            throw .refused(error.sentence)
        }
    }

    func openStore(_ folder: StateFolder) throws(ProgramError) -> Database {
        do { return try Database(path: folder.path(of: Home.storeName), schema: S.schema) } catch {
            throw ProgramError(storage: error, path: folder.path)
        }
    }

    @ServiceLoop
    private func start(
        _ installation: Installation, folder: StateFolder, clock: SystemBootClock, loop: BusLoop
    ) throws(ProgramError) -> RunningService<S> {
        let log = Log(service: S.name)
        if SecretMemory.lockingRefused {
            log.warning("memory_not_locked", ["consequence": .word("secrets may reach swap")])
        }
        let store = try openStore(folder)
        let limits = installation.limits
        let group = CommitGroup(store: store, clock: clock, limits: limits)
        do {
            let bus = try ServiceBus(
                installation, loop: loop, publishing: publishes, calls: calls)
            let metrics = MetricsRegistry()
            metrics.add { [unowned bus] in bus.counters() }
            let parts = ServiceParts(
                group: group, clock: clock, random: KernelRandom(), timers: loop.timers,
                metrics: metrics, settings: installation.settings, log: log, loop: loop,
                calls: bus.clients, publisher: bus.publisher, listen: bus.listen)
            let service = try build(parts)
            try group.write {
                try group.journal.recover(unfinished: service.unfinishedChanges())
            }
            try store.commitBatch()
            try service.rebuild()
            let host = ServiceHost(
                service, group: group, peers: bus.peers, clock: clock, port: bus.requests,
                metrics: metrics, version: Version.text, limits: limits)
            try bus.tryUnknownKey(clock: clock)
            let running = RunningService(
                host: host, bus: bus, loop: loop, clock: clock, log: log, folder: folder)
            running.connect()
            return running
        } catch let error as ProgramError {
            throw error
        } catch let error as StorageError {
            throw ProgramError(storage: error, path: folder.path)
        } catch {
            throw .failed("The service could not be started: \(type(of: error)).")
        }
    }
}

extension ProgramError {
    init(storage error: StorageError, path: String) {
        switch error {
        case .newerSchema(let found, let known):
            self = .refused(
                "The store in \(path) is of version \(found) and this program knows up to "
                    + "\(known): start the newer program, nothing was changed.")
        case .damaged, .wrongType:
            self = .damaged(
                "The store in \(path) is damaged. Nothing was overwritten; put it back from a copy."
            )
        case .full: self = .failed("The disk that holds \(path) is full.")
        case .residue:
            self = .failed(
                "The store in \(path) may hold remains of removed key material that could not be "
                    + "erased, and nothing is served before they are. Look whether the disk is "
                    + "read-only or fails, then start again.")
        default: self = .failed("The store in \(path) cannot be opened (\(error)).")
        }
    }
}

/// A service at work, and all that must live as long as it does.
@ServiceLoop
final class RunningService<S: Service> {
    /// Requests taken from the socket in one turn, so that a flood cannot hold up the commit.
    private static var requestsPerTurn: Int { 256 }

    let log: Log
    private let host: ServiceHost<S>
    private let bus: ServiceBus
    private let loop: BusLoop
    private let clock: any BootClock
    private let folder: StateFolder

    init(
        host: ServiceHost<S>, bus: ServiceBus, loop: BusLoop, clock: any BootClock, log: Log,
        folder: StateFolder
    ) {
        self.host = host
        self.bus = bus
        self.loop = loop
        self.clock = clock
        self.log = log
        self.folder = folder
    }

    /// Lets requests in.
    func connect() {
        loop.add(readable: bus.requests) { [unowned self] in
            for incoming in bus.requests.receive(limit: Self.requestsPerTurn) {
                host.receive(
                    route: incoming.route, peer: incoming.peer, header: incoming.header,
                    content: incoming.content)
            }
        }
        loop.onTurnEnd = { [unowned self] in endTurn() }
        host.onTrouble = { [log] code in log.error("trouble", ["code": .code(code)]) }
    }

    /// Lets work under way come to its end, for some time at the most.
    func drain(for milliseconds: UInt64) {
        bus.unlinkSockets()
        let end = clock.now.nanoseconds + milliseconds * 1_000_000
        loop.onTurnEnd = { [unowned self] in
            endTurn()
            if host.isIdle || clock.now.nanoseconds >= end { loop.stop() }
        }
        guard !host.isIdle else { return }
        let timers = loop.timers
        ServiceLoop.start { await timers.sleep(milliseconds: milliseconds) }
        loop.run()
    }

    private func endTurn() {
        do { try host.endTurn() } catch {
            // Without its store the service can answer nothing; the supervisor starts it anew.
            log.error("store_lost")
            exit(1)
        }
    }
}
