public import AuthorityClient
internal import AuthorityMessages
public import Clocks
public import Loop
public import Secrets
public import Serving
internal import SharesMessages
public import Storage
public import Tokens
public import Wire

/// Splits phrases between holders, and restores them from what they release.
///
/// It has no key of its own: what seals the keys of restorations comes with a lease of the
/// credential authority. A phrase passes through it in secret memory and is never stored; the vault
/// is asked in the name of the client, with the client's own token.
@ServiceLoop
public final class SharesService: Service {
    public nonisolated static let name = ServiceName.backupShares

    public nonisolated static var schema: Schema { SharesStore.schema }
    public nonisolated static var ownerTables: [OwnerTable] { SharesStore.ownerTables }

    public nonisolated static let methods: [Method<SharesService>] = [
        .on(AddHolder.self) { service, call in try await service.addHolder(call) },
        .on(RemoveHolder.self) { service, call in try await service.removeHolder(call) },
        .on(ListHolders.self) { service, call in try service.listHolders(call) },
        .on(SplitWallet.self) { service, call in try await service.split(call) },
        .on(ConfirmSplit.self) { service, call in try await service.confirmSplit(call) },
        .on(ListSplits.self) { service, call in try await service.listSplits(call) },
        .on(BeginRestoration.self) { service, call in try await service.beginRestoration(call) },
        .on(ListRestorations.self) { service, call in try await service.listRestorations(call) },
        .on(AbandonRestoration.self) { service, call in
            try await service.abandonRestoration(call)
        },
        .on(RestoreWallet.self) { service, call in try await service.restore(call) },
        .on(WipeOwner<Shares>.self) { service, call in
            try await service.link.wipe(
                call, in: service.group, tables: SharesService.ownerTables, forget: service.rebuild)
        },
    ]

    let group: CommitGroup
    let store: SharesStore
    let link: AuthorityLink
    let vault: VaultLink
    let clock: any BootClock
    let wallClock: any WallClock
    let random: any RandomSource
    let identifier: any PhraseIdentifier
    let limits: SharesLimits
    /// The restorations that somebody works on: nobody else touches them.
    var atWork: Set<RestorationAddress> = []

    /// - Parameters:
    ///   - group: over a database of ``schema``.
    ///   - vault: the way to the wallet vault.
    ///   - wallClock: for dates that people are shown.
    public init(
        group: CommitGroup, link: AuthorityLink, vault: ServiceClient, clock: any BootClock,
        wallClock: any WallClock, random: any RandomSource, identifier: any PhraseIdentifier,
        limits: SharesLimits = SharesLimits()
    ) {
        self.group = group
        self.link = link
        self.vault = VaultLink(vault: vault, clock: clock)
        self.clock = clock
        self.wallClock = wallClock
        self.random = random
        self.identifier = identifier
        self.limits = limits
        store = SharesStore(database: group.store)
    }

    /// The domains of the keys that backup-shares works with, for its link to the authority.
    public nonisolated static let keyDomains = KeyDomain.allCases.map(\.rawValue)

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
        let counts = (try? store.counts()) ?? SharesStore.Counts()
        return [
            Gauge(
                name: "shares_holders", help: "Holders in the store.",
                value: Double(counts.holders)),
            Gauge(
                name: "shares_splits", help: "Manifests of splits in the store.",
                value: Double(counts.splits)),
            Gauge(
                name: "shares_restorations", help: "Restorations that are not finished.",
                value: Double(counts.restorations)),
        ]
    }

    // MARK: What operations share

    /// Seconds since 1970.
    var today: UInt64 { wallClock.milliseconds / 1_000 }

    /// What a resource session of the namespace may do.
    func opening(_ namespace: Namespace) -> Permission {
        Permission(purpose: .open, namespace: namespace)
    }

    /// Writes as one step, and goes on when it is durable.
    func durably(_ step: () throws -> Void) async throws {
        try group.write(step)
        try await group.committed()
    }
}
