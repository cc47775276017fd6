public import AuthorityClient
internal import AuthorityMessages
public import Clocks
public import Loop
internal import MigrationMessages
internal import Mnemonics
public import Secrets
public import Serving
public import Storage
public import Tokens
public import Wire

/// Takes the wallets of a legacy keychain into the vault.
///
/// It opens sources for reading alone. A phrase passes through it in secret memory and is never
/// stored; the vault is asked in the name of the holder of a session, with the holder's token.
@ServiceLoop
public final class MigrationService: Service {
    public nonisolated static let name = ServiceName.migration

    public nonisolated static var schema: Schema { MigrationStore.schema }
    public nonisolated static var ownerTables: [OwnerTable] { MigrationStore.ownerTables }

    public nonisolated static let methods: [Method<MigrationService>] = [
        .on(PlanMigration.self) { service, call in try await service.plan(call) },
        .on(AskLaunchState.self) { service, call in try await service.launchState(call) },
        .on(ApplyMigration.self) { service, call in try await service.apply(call) },
        .on(VerifyMigration.self) { service, call in try await service.verify(call) },
        .on(FollowRun.self) { service, call in try service.follow(call) },
        .on(StopRun.self) { service, call in try service.stop(call) },
        .on(AskMigrationStatus.self) { service, call in try service.status(call) },
        .on(SetSourceAside.self) { service, call in try await service.setAside(call) },
        .on(WipeOwner<Migration>.self) { service, call in
            try await service.wipe(call)
        },
    ]

    let group: CommitGroup
    let store: MigrationStore
    let link: AuthorityLink
    let vault: VaultLink
    let shelf: SourceShelf
    let clock: any BootClock
    let timers: Timers
    let wallClock: any WallClock
    let random: any RandomSource
    let pool: WorkerPool
    let stretch: PhraseStretching
    let limits: MigrationLimits
    /// Told of every run at its end.
    let report: @ServiceLoop (RunSummary) -> Void
    /// The last run of each owner.
    var runs: [Owner: MigrationRun] = [:]

    /// - Parameters:
    ///   - group: over a database of ``schema``.
    ///   - vault: the way to the wallet vault.
    ///   - wallClock: for dates that people are shown.
    ///   - pool: where sources are read and phrases stretched.
    ///   - stretch: what makes the seed of a normalized phrase.
    ///   - report: writes a run's line in the log.
    public init(
        group: CommitGroup, link: AuthorityLink, vault: ServiceClient, clock: any BootClock,
        wallClock: any WallClock, timers: Timers, random: any RandomSource, pool: WorkerPool,
        stretch: @escaping PhraseStretching = MigrationService.stretchPhrase,
        limits: MigrationLimits = MigrationLimits(),
        report: @escaping @ServiceLoop (RunSummary) -> Void
    ) {
        self.group = group
        self.link = link
        self.clock = clock
        self.wallClock = wallClock
        self.random = random
        self.pool = pool
        self.stretch = stretch
        self.limits = limits
        self.report = report
        self.timers = timers
        self.vault = VaultLink(
            vault: vault, clock: clock, timers: timers, random: random, limits: limits)
        shelf = SourceShelf(pool: pool, clock: clock)
        store = MigrationStore(database: group.store)
    }

    /// BIP-39, with no passphrase.
    public nonisolated static let stretchPhrase: PhraseStretching = {
        (phrase) throws(MnemonicError) in
        try Mnemonic.seed(of: phrase, passphrase: SecretBytes(count: 0))
    }

    // MARK: What the host asks

    public func admit(
        _ token: ReceivedToken, from peer: PeerEntry, owner: Owner
    ) async throws -> VerifiedSession {
        try await link.admit(token, from: peer, owner: owner)
    }

    public func rebuild() throws {}

    public func owners() throws -> [Owner] { try store.owners() }

    public func ownerCount() throws -> Int { try store.ownerCount() }

    public func problem() -> String? {
        link.hearsAuthority
            ? nil : "The credential authority is not heard, and nothing is done without it."
    }

    public func gauges() -> [Gauge] {
        [
            Gauge(
                name: "migration_wallets", help: "Wallets in the ledger.",
                value: Double((try? store.walletCount()) ?? 0)),
            Gauge(
                name: "migration_runs", help: "Runs under way.",
                value: Double(runs.values.count(where: \.isRunning))),
        ]
    }

    // MARK: What operations share

    /// Seconds since 1970.
    var today: UInt64 { wallClock.milliseconds / 1_000 }

    /// What is known of a source's wallets before an owner's run.
    func tally(of source: OpenSource, owner: Owner) throws(StorageError) -> RunTally {
        var tally = RunTally(source.index.wallets)
        try store.eachSettled(of: owner) { id, isMissing in
            tally.settle(id, isMissing: isMissing)
        }
        return tally
    }

    /// Writes, and goes on when it is durable.
    ///
    /// A turn can be withdrawn because of another request in it; then the step is made once more.
    @discardableResult
    func durably<T>(_ step: () throws -> T) async throws -> T {
        for _ in 0..<2 {
            let made = try step()
            do throws(StorageFault) {
                try await group.committed()
                return made
            } catch { continue }
        }
        let made = try step()
        try await group.committed()
        return made
    }
}
