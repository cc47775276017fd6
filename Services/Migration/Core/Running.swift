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
        let again = call.request.again
        let order = RunOrder(call.request, aim: .apply, owner: call.owner)
        let source = try await begin(order, call)
        let tally = try tally(of: source, owner: order.owner)
        // Of a source that is done nothing is looked at, and nothing is said of it, but where a
        // person wants it.
        let isDone =
            try !again && store.source(source.index.digest, of: order.owner)?.done == true
        let run = MigrationRun(
            try newRunID(), order, tally, began: today,
            work: isDone ? [] : tally.work(on: order.network),
            sought: again ? try takenIn(by: order, source) : [])
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
        let run = MigrationRun(
            try newRunID(), order, try tally(of: source, owner: order.owner), began: today,
            work: try takenIn(by: order, source))
        runs[order.owner] = run
        start(run, over: source, token: call.token)
        return Answer(RunBegun(run: run.id))
    }

    /// The places of a source's wallets that were taken into the namespace of an order before.
    private func takenIn(
        by order: RunOrder, _ source: OpenSource
    ) throws(StorageError) -> [Int] {
        var places: [Int] = []
        try store.eachSettled(of: order.owner, on: order.network, in: order.namespace) { id in
            if let place = source.index.wallets.place(of: id) { places.append(place) }
        }
        return places
    }

    /// Opens the source of a run that may begin now.
    private func begin<R: RunRequest>(
        _ order: RunOrder, _ call: Call<R>
    ) async throws -> OpenSource {
        let permission = Permission(purpose: .open, namespace: order.namespace)
        try call.require(permission, alsoFor: .walletVault)
        guard runs[order.owner]?.isRunning != true else { throw MigrationFault.busy }
        let source = try await shelf.open(order.path, for: order.owner, until: call.deadline)
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

    private func start(_ run: MigrationRun, over source: OpenSource, token: [UInt8]) {
        let errand = VaultErrand(
            owner: run.order.owner, token: token, namespace: run.order.namespace,
            network: run.order.network)
        let prover = PhraseProver(source, network: run.order.network, stretch: stretch)
        ServiceLoop.start {
            await self.inLanes(of: run, run.nextSought) { await self.seek(at: $0, run, errand) }
            await self.inLanes(of: run, run.next) {
                await self.work(on: $0, run, prover, errand)
            }
            await self.end(run, source)
        }
    }

    /// Works on several wallets at a time, so that every core has something to do while the vault
    /// is asked; goes on when there is no next one.
    private func inLanes(
        of run: MigrationRun, _ next: @escaping @ServiceLoop @Sendable () -> Int?,
        _ work: @escaping @ServiceLoop @Sendable (Int) async -> Void
    ) async {
        run.lanes = max(1, limits.lanes)
        await withCheckedContinuation { ended in
            for _ in 0..<run.lanes {
                ServiceLoop.start {
                    while let place = next() { await work(place) }
                    run.lanes -= 1
                    if run.lanes == 0 { ended.resume() }
                }
            }
        }
    }

    /// Asks the vault whether it still has a wallet that was taken in before.
    ///
    /// One that came back under another name, because a person brought it in, is noted so.
    private func seek(at place: Int, _ run: MigrationRun, _ errand: VaultErrand) async {
        let id = run.tally.wallets.id(at: place)
        do {
            guard let entry = try store.entry(of: id, owner: errand.owner) else {
                return run.endSeeking()
            }
            let found = try await vault.find(entry.identity, errand) { !run.isEnding }
            try note(entry, found, errand.owner)
            run.endSeeking()
            if found == nil { run.miss(at: place) } else { run.find(at: place) }
        } catch VaultTrouble.wallet(let problem, let code) {
            run.endSeeking()
            run.failToSeek(at: place, problem, code: code)
        } catch {
            end(run, because: error)
        }
    }

    /// Notes under which name the vault has a wallet that was taken in before; nil where it has it
    /// no longer.
    private func note(_ entry: LedgerEntry, _ wallet: WalletID?, _ owner: Owner) throws {
        var now = entry
        now.wallet = wallet ?? entry.wallet
        now.isMissing = wallet == nil
        if now != entry { try group.write { try store.add(now, owner: owner) } }
    }

    /// Ends a run that something keeps from going on.
    private func end(_ run: MigrationRun, because error: any Error) {
        switch error {
        case VaultTrouble.run(let code): run.stop(for: code)
        case VaultTrouble.unwanted: run.stop()
        default: run.stop(for: Self.code(of: error))
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
        } catch {
            end(run, because: error)
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
        do {
            try await vault.check(entry.wallet, is: proven.sdkID, errand) { !run.isEnding }
            return try note(entry, entry.wallet, errand.owner)
        } catch let trouble as VaultTrouble {
            guard trouble == .noSuchWallet else { throw trouble }
        }
        // Perhaps it was removed and came in anew under another name.
        let found = try await vault.find(proven.sdkID, errand) { !run.isEnding }
        try note(entry, found, errand.owner)
        guard let found else {
            run.miss(at: place)
            throw VaultTrouble.noSuchWallet
        }
        try await vault.check(found, is: proven.sdkID, errand) { !run.isEnding }
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
