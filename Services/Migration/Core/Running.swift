internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Loop
internal import MigrationMessages
internal import Secrets
internal import Serving
internal import Storage
internal import VaultMessages
internal import Wire

/// How runs begin, are followed and stopped.
extension MigrationService {
    /// Begins to take wallets in.
    func apply(_ call: Call<ApplyMigration>) async throws -> Answer<ApplyMigration> {
        let order = RunOrder(call.request, aim: .apply, owner: call.owner)
        let source = try await begin(order, call)
        let tally = try tally(of: source, owner: order.owner)
        let isDone = try store.source(source.index.digest, of: order.owner)?.done == true
        // Of a source that is done nothing is looked at, and nothing is said of it.
        let run = MigrationRun(
            try newRunID(), order, tally, work: isDone ? [] : tally.work(on: order.network))
        let before = runs[order.owner]
        runs[order.owner] = run
        let answer: Answer<ApplyMigration>
        do {
            // A run goes on by itself: that it began must be durable.
            answer = try await durably {
                try group.change(call) {
                    if !isDone { try note(run, source) }
                    return RunBegun(run: run.id)
                }
            }
        } catch {
            runs[order.owner] = before
            throw error
        }
        if isDone { run.end() } else { start(run, over: source, token: call.token) }
        return answer
    }

    /// Begins to verify what was taken in.
    func verify(_ call: Call<VerifyMigration>) async throws -> Answer<VerifyMigration> {
        let order = RunOrder(call.request, aim: .verify, owner: call.owner)
        let source = try await begin(order, call)
        var places: [Int] = []
        try store.eachSettled(of: order.owner, on: order.network, in: order.namespace) { id in
            if let place = source.index.wallets.place(of: id) { places.append(place) }
        }
        let run = MigrationRun(
            try newRunID(), order, try tally(of: source, owner: order.owner), work: places)
        runs[order.owner] = run
        start(run, over: source, token: call.token)
        return Answer(RunBegun(run: run.id))
    }

    /// Opens the source of a run that may begin now.
    private func begin<R: RunRequest>(
        _ order: RunOrder, _ call: Call<R>
    ) async throws -> OpenSource {
        let permission = Permission(purpose: .open, namespace: order.namespace)
        try call.require(permission)
        guard runs[order.owner]?.isRunning != true else { throw MigrationFault.busy }
        let source = try await shelf.open(order.path)
        // Reading a source can outlast a lease.
        let lease = try await link.lease(permission, for: call)
        guard runs[order.owner]?.isRunning != true else { throw MigrationFault.busy }
        try lease.check(at: clock.now.nanoseconds)
        return source
    }

    private func newRunID() throws(BusFault) -> MigrationRunID {
        guard let id = MigrationRunID(random.bytes(MigrationRunID.byteCount)) else {
            throw .internalError
        }
        return id
    }

    func follow(_ call: Call<FollowRun>) throws -> Answer<FollowRun> {
        Answer(try run(call.request.run, of: call.owner).progress)
    }

    func stop(_ call: Call<StopRun>) throws -> Answer<StopRun> {
        try run(call.request.run, of: call.owner).stop()
        return Answer(Empty())
    }

    private func run(
        _ id: MigrationRunID, of owner: Owner
    ) throws(MigrationFault) -> MigrationRun {
        guard let run = runs[owner], run.id == id else { throw .noSuchRun }
        return run
    }

    // MARK: A run at work

    /// Works on several wallets at a time, so that every core has something to do while the vault
    /// is asked.
    private func start(_ run: MigrationRun, over source: OpenSource, token: [UInt8]) {
        let errand = VaultErrand(
            owner: run.order.owner, token: token, namespace: run.order.namespace,
            network: run.order.network)
        let prover = PhraseProver(source, network: run.order.network, stretch: stretch)
        run.lanes = max(1, limits.lanes)
        for _ in 0..<run.lanes {
            ServiceLoop.start {
                while let place = run.next() {
                    await self.work(on: place, run, prover, errand)
                }
                run.lanes -= 1
                if run.lanes == 0 { await self.end(run, source) }
            }
        }
    }

    private func work(
        on place: Int, _ run: MigrationRun, _ prover: PhraseProver, _ errand: VaultErrand
    ) async {
        let proven: ProvenPhrase
        switch await pool.run({ prover.find(at: place) }) {
        case .proven(let found): proven = found
        case .problem(let problem): return run.fail(at: place, problem)
        case .fault(let fault): return run.stop(for: fault.rawValue)
        }
        do {
            switch run.order.aim {
            case .apply: try await take(proven, at: place, run, prover.source, errand)
            case .verify: try await compare(proven, at: place, run, errand)
            }
            run.succeed(at: place)
        } catch VaultTrouble.wallet(let problem, let code) {
            run.fail(at: place, problem, code: code)
        } catch VaultTrouble.run(let code) {
            run.stop(for: code)
        } catch VaultTrouble.unwanted {
            run.stop()
        } catch {
            run.stop(for: Self.code(of: error))
        }
    }

    /// Takes a wallet in, and notes it in the ledger before anything relies on it.
    private func take(
        _ proven: ProvenPhrase, at place: Int, _ run: MigrationRun, _ source: OpenSource,
        _ errand: VaultErrand
    ) async throws {
        let wallet = try await vault.bring(proven, errand) { !run.isEnding }
        let entry = LedgerEntry(
            legacy: source.index.wallets.id(at: place), network: errand.network,
            identity: proven.sdkID, namespace: errand.namespace, wallet: wallet,
            source: source.index.digest, migrated: today)
        try await durably { try group.write { try store.add(entry, owner: errand.owner) } }
    }

    /// Compares what the source leads to with the ledger, and with what the vault opens.
    private func compare(
        _ proven: ProvenPhrase, at place: Int, _ run: MigrationRun, _ errand: VaultErrand
    ) async throws {
        let id = run.tally.wallets.id(at: place)
        guard let entry = try store.entry(of: id, owner: errand.owner),
            entry.identity == proven.sdkID
        else { throw VaultTrouble.wallet(.identityDiffers, code: nil) }
        try await vault.check(entry.wallet, is: proven.sdkID, errand) { !run.isEnding }
    }

    /// What is told of an error of the store.
    private static func code(of error: any Error) -> String {
        switch error {
        case let fault as any Fault: fault.refusal.code
        case StorageError.full: StorageFault.full.rawValue
        case StorageError.damaged, StorageError.wrongType: StorageFault.damaged.rawValue
        default: StorageFault.failed.rawValue
        }
    }

    /// Notes how the source stands, and writes the run's line.
    private func end(_ run: MigrationRun, _ source: OpenSource) async {
        if run.order.aim == .apply {
            do { try await durably { try group.write { try note(run, source) } } } catch {
                run.stop(for: Self.code(of: error))
            }
        }
        run.end()
        report(RunSummary(run.progress, isVerification: run.order.aim == .verify))
    }

    /// Writes how a source stands after what a run has done so far; part of the caller's step.
    private func note(_ run: MigrationRun, _ source: OpenSource) throws {
        try store.put(
            AskMigrationStatus.Reply.Source(
                digest: source.index.digest, path: run.order.path.text,
                verdict: run.tally.verdict, lastRun: today, counts: run.tally.counts),
            owner: run.order.owner)
    }
}

extension RunOrder {
    fileprivate init<R: RunRequest>(_ request: R, aim: Aim, owner: Owner) {
        self.init(
            aim: aim, owner: owner, path: request.source, network: request.network,
            namespace: request.namespace)
    }
}
