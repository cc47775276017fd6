public import AuthorityClient
public import Clocks
public import Loop
public import Secrets
public import Serving
public import Storage
public import Tokens
public import Wire

/// Splits phrases between holders, and restores them from what they release.
@ServiceLoop
public final class SharesService: Service {
    public nonisolated static let name = ServiceName.backupShares

    public nonisolated static let schema = Schema(steps: [OutcomeJournal.schemaStep])
    public nonisolated static let ownerTables: [OwnerTable] = []

    public nonisolated static let methods: [Method<SharesService>] = []

    let group: CommitGroup
    let link: AuthorityLink
    let vault: ServiceClient
    let clock: any BootClock
    let random: any RandomSource

    /// - Parameter group: over a database of ``schema``.
    public init(
        group: CommitGroup, link: AuthorityLink, vault: ServiceClient, clock: any BootClock,
        random: any RandomSource
    ) {
        self.group = group
        self.link = link
        self.vault = vault
        self.clock = clock
        self.random = random
    }

    // MARK: What the host asks

    public func admit(
        _ token: ReceivedToken, from peer: PeerEntry, owner: Owner
    ) async throws -> VerifiedSession {
        try await link.admit(token, from: peer, owner: owner)
    }

    public func rebuild() throws {}

    public func owners() throws -> [Owner] { [] }

    public func problem() -> String? {
        link.hearsAuthority
            ? nil : "The credential authority is not heard, and nothing is done without it."
    }

    public func gauges() -> [Gauge] { [] }
}
