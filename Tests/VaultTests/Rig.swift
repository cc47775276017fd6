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

/// The peers of a test.
struct Peers: PeerDirectory {
    let entries: [PeerKey: PeerEntry]

    func entry(for key: PeerKey) -> PeerEntry? { entries[key] }
}

/// A vault in one process: the real service, host, store and tokens, with an authority of the test.
@ServiceLoop
final class Rig: ReplyPort {
    let clock = FakeBootClock()
    let random: SeededRandom
    let timers: Timers
    let authority: AuthorityDouble
    let stretcher = InlineStretcher()
    let folder: TemporaryFolder
    let database: Database
    let service: VaultService
    private var host: ServiceHost<VaultService>?
    private let group: CommitGroup
    private var replies: [UInt64: ReplyFrames] = [:]
    private var lastID: UInt64 = 0

    let owner: Owner
    let other: Owner
    let main: Namespace
    let spare: Namespace
    let app: PeerEntry
    let engine: PeerEntry
    let shares: PeerEntry
    let migration: PeerEntry
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
        app = try Self.peer(1, .app, mayDestroy: true)
        engine = try Self.peer(2, .engine)
        shares = try Self.peer(3, .service(.backupShares))
        viewer = try Self.peer(4, .app)
        migration = try Self.peer(5, .service(.migration))
        let known = [app, engine, shares, viewer, migration]
        host = ServiceHost(
            service, group: group,
            peers: Peers(entries: Dictionary(uniqueKeysWithValues: known.map { ($0.key, $0) })),
            clock: clock, port: self, metrics: MetricsRegistry(), version: "test")
        try group.write { try group.journal.recover(unfinished: []) }
        authority.publish()
    }

    private static func peer(
        _ number: UInt8, _ role: Role, mayDestroy: Bool = false
    ) throws -> PeerEntry {
        let key: PeerKey? = PeerKey([UInt8](repeating: number, count: 32))
        return PeerEntry(
            name: "peer \(number)", key: try #require(key), role: role, owners: .all,
            mayDestroy: mayDestroy)
    }

    // MARK: Asking

    /// Puts a request on the loop; its answer is there after ``finish()``.
    func send<R: Request>(
        _ request: R, from peer: PeerEntry? = nil, owner: Owner? = nil, token: [UInt8],
        attachments: [SharedSecret] = [], key: IdempotencyKey? = nil
    ) -> UInt64 {
        lastID += 1
        let peer = peer ?? app
        let idempotency =
            R.kind == .change ? key ?? IdempotencyKey(random.bytes(IdempotencyKey.byteCount)) : nil
        let frames = RequestFrames(
            request, id: lastID,
            options: CallOptions(
                owner: owner ?? self.owner, token: token, idempotency: idempotency),
            attachments: attachments)
        host?.receive(
            route: [UInt8(truncatingIfNeeded: lastID)], peer: peer.key, header: frames.header,
            content: .success(frames))
        return lastID
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

    func send(_ reply: ReplyFrames, to route: [UInt8]) {
        guard let header = try? ReplyHeader(decoding: reply.header) else { return }
        replies[header.id] = reply
    }

    func answer<R: Request>(to id: UInt64, _ type: R.Type) throws -> Answer<R> {
        try #require(replies[id], "no answer came").answer(to: R.self)
    }

    /// Asks and waits for the answer.
    @discardableResult
    func ask<R: Request>(
        _ request: R, from peer: PeerEntry? = nil, owner: Owner? = nil, token: [UInt8],
        attachments: [SharedSecret] = [], key: IdempotencyKey? = nil
    ) async throws -> Answer<R> {
        let id = send(
            request, from: peer, owner: owner, token: token, attachments: attachments, key: key)
        try await finish()
        return try answer(to: id, R.self)
    }

    /// Asks for something that must be refused, and gives the code.
    func refusal<R: Request>(
        _ request: R, from peer: PeerEntry? = nil, owner: Owner? = nil, token: [UInt8],
        attachments: [SharedSecret] = []
    ) async throws -> String {
        do {
            try await ask(
                request, from: peer, owner: owner, token: token, attachments: attachments)
            return "ok"
        } catch let refusal as Refusal {
            return refusal.code
        }
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
