import AuthorityDouble
import AuthorityMessages
import Clocks
import Crypto
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import AuthorityClient
@testable import VaultCore

/// Stretches at once, and lets a test do something while it does.
@ServiceLoop
final class InlineStretcher: PhraseStretcher {
    var meanwhile: (@ServiceLoop () async -> Void)?
    private(set) var runs = 0

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
        runs += 1
        await meanwhile?()
        return work()
    }
}

/// A vault in one process: the real service, host, store and tokens, with an authority of the test.
@ServiceLoop
final class Rig: ServiceRig {
    let clock = FakeBootClock()
    let random: SeededRandom
    let timers: Timers
    let authority: AuthorityDouble
    let stretcher = InlineStretcher()
    let folder: TemporaryFolder
    let database: Database
    let service: VaultService
    private(set) var host: ServiceHost<VaultService>?
    let replies = ReplyBox()
    private let group: CommitGroup

    let owner: Owner
    let other: Owner
    let main: Namespace
    let spare: Namespace
    let app: PeerEntry
    let engine: PeerEntry
    let shares: PeerEntry
    let migration: PeerEntry
    let credentialAuthority: PeerEntry
    /// An app that may not destroy.
    let viewer: PeerEntry

    init(
        seed: UInt64 = 1, limits: VaultLimits = VaultLimits(), inFolder: TemporaryFolder? = nil,
        stretcher other: (any PhraseStretcher)? = nil
    ) throws {
        random = SeededRandom(seed: seed)
        timers = Timers(clock: clock)
        folder = try inFolder ?? TemporaryFolder(inMemory: true)
        database = try Database(path: folder.path(of: "vault.db"), schema: VaultService.schema)
        authority = try AuthorityDouble(clock: clock, random: SeededRandom(seed: seed ^ 0xA17))
        group = CommitGroup(store: database, clock: clock)
        let link = AuthorityLink(
            service: .walletVault, domains: VaultService.keyDomains,
            authority: ServiceClient(port: authority.port(for: .walletVault)), clock: clock,
            timers: timers)
        authority.listen { [weak link] notice in link?.hear(notice) }
        service = VaultService(
            group: group, link: link, clock: clock, random: random,
            stretcher: other ?? stretcher, limits: limits)

        owner = try #require(Owner("local"))
        self.other = try #require(Owner("second"))
        main = try #require(Namespace("telegram.production.42"))
        spare = try #require(Namespace("telegram.test.42"))
        app = try PeerEntry(number: 1, .app, mayDestroy: true)
        engine = try PeerEntry(number: 2, .engine)
        shares = try PeerEntry(number: 3, .service(.backupShares))
        viewer = try PeerEntry(number: 4, .app)
        migration = try PeerEntry(number: 5, .service(.migration))
        credentialAuthority = try PeerEntry(number: 6, .service(.credentialAuthority))
        let peers = [app, engine, shares, viewer, migration, credentialAuthority]
        host = ServiceHost(
            service, group: group, peers: KnownPeers(peers),
            clock: clock, port: replies, metrics: MetricsRegistry(), version: "test")
        try group.write { try group.journal.recover(unfinished: []) }
        authority.publish()
    }

    /// Runs turns until nothing is under way; the clock stands still.
    func finish() async throws {
        repeat {
            await LoopHarness.settle()
            timers.fire()
            await LoopHarness.settle()
            try host?.endTurn()
        } while host?.isIdle == false
    }

    // MARK: What tests do often

    func token(
        _ scope: Scope, owner: Owner? = nil, holder: PeerEntry? = nil, origin: Origin = .passcode,
        audience: Set<ServiceName> = [.walletVault], seconds: UInt64 = 300
    ) throws -> [UInt8] {
        try authority.open(
            scope, for: owner ?? self.owner, holder: (holder ?? app).key, origin: origin,
            audience: audience, seconds: seconds
        ).token
    }

    func create(
        label: String = "main", words: Int = 12, in namespace: Namespace? = nil,
        owner: Owner? = nil
    ) async throws -> WalletDescription {
        let namespace = namespace ?? main
        return try await ask(
            CreateWallet(namespace: namespace, label: label, words: words), owner: owner,
            token: token(.resource(namespace), owner: owner)
        ).reply
    }

    func importPhrase(
        _ phrase: String, in namespace: Namespace? = nil, owner: Owner? = nil,
        expected: [UInt8]? = nil
    ) async throws -> WalletDescription {
        let namespace = namespace ?? main
        return try await ask(
            ImportWallet(
                namespace: namespace, label: "imported", walletKind: .bip39, expected: expected),
            owner: owner, token: token(.resource(namespace), owner: owner),
            attachments: [Self.secret(phrase)]
        ).reply
    }

    /// Takes in a wallet that everybody knows.
    func bring(
        _ known: KnownWallet, label: String = "known", in namespace: Namespace? = nil,
        expected: [UInt8]? = nil
    ) async throws -> WalletDescription {
        let namespace = namespace ?? main
        return try await ask(
            ImportWallet(
                namespace: namespace, label: label, walletKind: known.kind,
                network: known.network, expected: expected),
            token: token(.resource(namespace)), attachments: [Self.secret(known.phrase)]
        ).reply
    }

    func reveal(_ wallet: WalletID, in namespace: Namespace? = nil) async throws -> String {
        let namespace = namespace ?? main
        let answer = try await ask(
            RevealWallet(namespace: namespace, wallet: wallet),
            token: token(.reveal(namespace, wallet)))
        return try #require(answer.attachments.first).bytes.withBytes {
            String(decoding: $0, as: UTF8.self)
        }
    }

    func list(_ namespace: Namespace? = nil, owner: Owner? = nil) async throws
        -> [WalletDescription]
    {
        let namespace = namespace ?? main
        return try await ask(
            ListWallets(namespace: namespace), owner: owner,
            token: token(.resource(namespace), owner: owner)
        ).reply.wallets
    }

    /// The keys of a namespace, as the authority of the test derives them.
    nonisolated static func keys(
        of owner: Owner, _ namespace: Namespace
    ) throws -> NamespaceKeys {
        let keys = try VaultService.keyDomains.map { domain in
            SharedSecret(
                try HKDF.sha256(
                    key: AuthorityDouble.accessKey(of: owner), salt: Array(namespace.text.utf8),
                    info: Array(domain.utf8), count: 32))
        }
        return NamespaceKeys(envelopes: keys[0], identities: keys[1])
    }

    nonisolated static func secret(_ text: String) -> SharedSecret { secret(Array(text.utf8)) }

    nonisolated static func secret(_ bytes: [UInt8]) -> SharedSecret {
        SharedSecret(SecretBytes(copying: bytes))
    }

    /// Does something to the store behind the vault's back.
    func tamper(_ body: (Database) throws -> Void) throws {
        try database.write { try body(database) }
        try database.commitBatch()
    }

    /// Lets time go by, with the authority's heartbeats or without.
    func pass(milliseconds: UInt64, heartbeats: Bool = true) async {
        var left = milliseconds
        while left > 0 {
            let step = min(left, 500)
            clock.advance(milliseconds: step)
            left -= step
            if heartbeats { authority.publish() }
            timers.fire()
            await LoopHarness.settle()
        }
    }
}
