public import AuthorityClient
internal import AuthorityMessages
public import Clocks
public import Loop
internal import Mnemonics
public import Secrets
public import Serving
public import Storage
public import Tokens
internal import VaultMessages
public import Wire

/// Keeps the secrets of wallets in envelopes, shows them and signs with them.
///
/// It holds no key of its own: whatever opens or changes anything does so under a lease of the
/// credential authority.
@ServiceLoop
public final class VaultService: Service {
    public nonisolated static let name = ServiceName.walletVault

    public nonisolated static var schema: Schema { VaultStore.schema }
    public nonisolated static var ownerTables: [OwnerTable] { VaultStore.ownerTables }

    public nonisolated static let methods: [Method<VaultService>] = [
        .on(CreateWallet.self) { service, call in try await service.create(call) },
        .on(ImportWallet.self) { service, call in try await service.importWallet(call) },
        .on(ListWallets.self) { service, call in try await service.list(call) },
        .on(FindWallet.self) { service, call in try await service.find(call) },
        .on(CheckWallet.self) { service, call in try await service.check(call) },
        .on(RevealWallet.self) { service, call in try await service.reveal(call) },
        .on(SignWithWallet.self) { service, call in try await service.sign(call) },
        .on(RemoveWallet.self) { service, call in try await service.remove(call) },
        .on(AskWhetherEmpty.self) { service, call in
            Answer(.init(empty: try service.store.isEmpty(of: call.owner)))
        },
        .on(WipeOwner<Vault>.self) { service, call in
            try await service.link.wipe(
                call, in: service.group, tables: VaultService.ownerTables, forget: service.rebuild)
        },
    ]

    let group: CommitGroup
    let store: VaultStore
    let link: AuthorityLink
    let clock: any BootClock
    let random: any RandomSource
    let stretcher: any PhraseStretcher
    let limits: VaultLimits
    /// The wallets whose secret and identity were compared since the start, as they stood then.
    private var verified: Set<RowDigest> = []
    /// Those whose phrase was brought to the seed and compared, by row and envelopes as they stood
    /// then: the same bytes open to the same secrets.
    private var retraced: Set<RowDigest> = []

    /// - Parameter group: over a database of ``schema``.
    public init(
        group: CommitGroup, link: AuthorityLink, clock: any BootClock, random: any RandomSource,
        stretcher: any PhraseStretcher, limits: VaultLimits = VaultLimits()
    ) {
        self.group = group
        self.link = link
        self.clock = clock
        self.random = random
        self.stretcher = stretcher
        self.limits = limits
        store = VaultStore(database: group.store)
    }

    /// Wallets whose way from phrase to seed is remembered.
    nonisolated static let retracedLimit = 100_000

    /// The domains of the keys that the vault works with, for its link to the authority.
    public nonisolated static let keyDomains = KeyDomain.allCases.map(\.rawValue)

    // MARK: What the host asks

    public func admit(
        _ token: ReceivedToken, from peer: PeerEntry, owner: Owner
    ) async throws -> VerifiedSession {
        try await link.admit(token, from: peer, owner: owner)
    }

    public func rebuild() throws {
        verified.removeAll()
        retraced.removeAll()
    }

    public func owners() throws -> [Owner] { try store.owners() }

    public func ownerCount() throws -> Int { try store.ownerCount() }

    public func problem() -> String? {
        link.hearsAuthority
            ? nil : "The credential authority is not heard, and nothing is opened without it."
    }

    public func gauges() -> [Gauge] {
        [
            Gauge(
                name: "vault_wallets", help: "Wallets in the store.",
                value: Double((try? store.walletCount()) ?? 0)),
            Gauge(
                name: "vault_leases", help: "Leases kept to serve again.",
                value: Double(link.leaseCount)),
        ]
    }

    // MARK: Whether a wallet was verified

    func isVerified(_ record: WalletRecord) -> Bool { verified.contains(RowDigest(record)) }

    /// Takes note that a wallet's secret was compared with what stands beside it.
    func noteVerified(_ record: WalletRecord) { verified.insert(RowDigest(record)) }

    func isRetraced(_ record: WalletRecord, _ documents: EnvelopeDocuments) -> Bool {
        retraced.contains(RowDigest(record, documents))
    }

    func noteRetraced(_ record: WalletRecord, _ documents: EnvelopeDocuments) {
        if retraced.count >= Self.retracedLimit { retraced.removeAll() }
        retraced.insert(RowDigest(record, documents))
    }

    func forgetVerified(_ record: WalletRecord) { verified.remove(RowDigest(record)) }

    // MARK: What operations share

    /// The wallet as it stands now.
    func find(
        _ wallet: WalletID, in namespace: Namespace, of owner: Owner
    ) throws -> WalletRecord {
        switch try store.row(of: wallet, owner: owner, namespace: namespace) {
        case .readable(let record): return record
        case .damaged: throw StorageFault.damaged
        case nil: throw VaultFault.noSuchWallet
        }
    }

    /// The seed of a phrase that is known to be valid.
    func seed(of phrase: SharedSecret, as family: WalletFamily) async throws -> SharedSecret {
        let stretched = await stretcher.run {
            Result { () throws(MnemonicError) in
                SharedSecret(try family.seed(of: phrase.bytes))
            }
        }
        do throws(MnemonicError) {
            return try stretched.get()
        } catch {
            throw BusFault.internalError
        }
    }
}
