import AuthorityClient
import AuthorityDouble
import AuthorityMessages
import BackupShares
import Clocks
import Crypto
import Loop
import Secrets
import Serving
import SharesMessages
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import SharesCore

/// A wall clock that stands still.
struct StoppedWallClock: WallClock {
    let milliseconds: UInt64 = 1_700_000_000_999
}

/// Looks at phrases at once, and lets a test do something while it does.
@ServiceLoop
final class InlineIdentifier: PhraseIdentifier {
    var meanwhile: (@ServiceLoop () async -> Void)?

    func wallet(
        of phrase: SharedSecret, kind: WalletKind, network: WalletNetwork?
    ) async throws(SharesFault) -> SharedWallet {
        await meanwhile?()
        return try PhraseIdentity.wallet(of: phrase, kind, network).get()
    }
}

/// backup-shares in one process: the real service, host, store and tokens, the real vault, and an
/// authority of the test.
@ServiceLoop
final class Rig: ReplyPort {
    let clock = FakeBootClock()
    let random: SeededRandom
    let timers: Timers
    let authority: AuthorityDouble
    let vault: VaultHouse
    let identifier = InlineIdentifier()
    let folder: TemporaryFolder
    private let limits: SharesLimits
    private(set) var database: Database
    private(set) var service: SharesService
    private var host: ServiceHost<SharesService>?
    private var link: AuthorityLink
    private var replies: [UInt64: ReplyFrames] = [:]
    private var lastID: UInt64 = 0

    let owner: Owner
    let other: Owner
    let main: Namespace
    let spare: Namespace
    let app: PeerEntry
    /// Another app of the same owners.
    let second: PeerEntry
    let engine: PeerEntry
    /// An app that may remove wallets.
    let remover: PeerEntry
    private let peers: Peers
    let holders: [Holder]

    init(seed: UInt64 = 1, limits: SharesLimits = SharesLimits()) throws {
        random = SeededRandom(seed: seed)
        self.limits = limits
        timers = Timers(clock: clock)
        folder = try TemporaryFolder(inMemory: true)
        owner = try #require(Owner("local"))
        other = try #require(Owner("second"))
        main = try #require(Namespace("main"))
        spare = try #require(Namespace("spare"))
        app = try Self.peer(1, .app)
        second = try Self.peer(2, .app)
        engine = try Self.peer(3, .engine)
        remover = try Self.peer(5, .app, mayDestroy: true)
        let shares = try Self.peer(4, .service(.backupShares))
        let all = [app, second, engine, remover, shares]
        peers = Peers(entries: Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) }))
        authority = try AuthorityDouble(clock: clock, random: SeededRandom(seed: seed ^ 0xA17))
        vault = try VaultHouse(
            clock: clock, timers: timers, authority: authority, peer: shares, peers: peers)
        holders = try ["anna", "boris", "cleo", "dora"].enumerated().map { number, name in
            try Holder(name, seed: UInt8(number + 1))
        }
        (database, service, link) = try Self.make(
            folder, clock, timers, authority, vault, identifier, random, limits)
        try open()
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

    private static func make(
        _ folder: TemporaryFolder, _ clock: FakeBootClock, _ timers: Timers,
        _ authority: AuthorityDouble, _ vault: VaultHouse, _ identifier: InlineIdentifier,
        _ random: SeededRandom, _ limits: SharesLimits
    ) throws -> (Database, SharesService, AuthorityLink) {
        let database = try Database(
            path: folder.path(of: "shares.db"), schema: SharesService.schema)
        let link = AuthorityLink(
            service: .backupShares, domains: SharesService.keyDomains,
            authority: ServiceClient(port: authority.port(for: .backupShares)), clock: clock,
            timers: timers)
        authority.listen { [weak link] in link?.hear($0) }
        let service = SharesService(
            group: CommitGroup(store: database, clock: clock), link: link,
            vault: ServiceClient(port: vault), clock: clock,
            wallClock: StoppedWallClock(), random: random,
            identifier: identifier, limits: limits)
        return (database, service, link)
    }

    private func open() throws {
        let service = service
        let group = service.group
        try group.write {
            try group.journal.recover(unfinished: service.unfinishedChanges())
        }
        try database.commitBatch()
        try service.rebuild()
        host = ServiceHost(
            service, group: group, peers: peers, clock: clock, port: self,
            metrics: MetricsRegistry(), version: "test")
    }

    /// Kills the service, with all that it had under way, and starts it on what its store has.
    func restart() throws {
        host = nil
        database.close()
        (database, service, link) = try Self.make(
            folder, clock, timers, authority, vault, identifier, random, limits)
        try open()
        authority.publish()
    }

    // MARK: Asking

    /// Puts a request on the loop; its answer is there after ``finish()``.
    func send<R: Request>(
        _ request: R, from peer: PeerEntry? = nil, owner: Owner? = nil, token: [UInt8] = [],
        attachments: [SharedSecret] = [], key: IdempotencyKey? = nil,
        timeout: UInt64 = 5_000
    ) -> UInt64 {
        lastID += 1
        let idempotency = R.kind == .change ? key ?? newKey() : nil
        let frames = RequestFrames(
            request, id: lastID,
            options: CallOptions(
                owner: owner ?? self.owner, token: token, timeoutMilliseconds: timeout,
                idempotency: idempotency),
            attachments: attachments)
        host?.receive(
            route: [UInt8(truncatingIfNeeded: lastID)], peer: (peer ?? app).key,
            header: frames.header, content: .success(frames))
        return lastID
    }

    func newKey() -> IdempotencyKey {
        guard let key = IdempotencyKey(random.bytes(IdempotencyKey.byteCount)) else {
            preconditionFailure("a key has as many bytes as it has")
        }
        return key
    }

    /// Runs some turns of both services; the clock stands still.
    func turns(_ count: Int = 40) async throws {
        for _ in 0..<count {
            await LoopHarness.settle()
            timers.fire()
            try vault.endTurn()
            await LoopHarness.settle()
            try host?.endTurn()
        }
    }

    /// Runs turns until nothing is under way.
    func finish() async throws {
        repeat { try await turns(1) } while host?.isIdle == false || !vault.isIdle
    }

    func send(_ reply: ReplyFrames, to route: [UInt8]) {
        guard let header = try? ReplyHeader(decoding: reply.header) else { return }
        replies[header.id] = reply
    }

    func hasAnswer(to id: UInt64) -> Bool { replies[id] != nil }

    func answer<R: Request>(to id: UInt64, _ type: R.Type) throws -> Answer<R> {
        try #require(replies[id], "no answer came").answer(to: R.self)
    }

    /// Asks and waits for the answer.
    @discardableResult
    func ask<R: Request>(
        _ request: R, from peer: PeerEntry? = nil, owner: Owner? = nil, token: [UInt8] = [],
        attachments: [SharedSecret] = [], key: IdempotencyKey? = nil
    ) async throws -> Answer<R> {
        let id = send(
            request, from: peer, owner: owner, token: token, attachments: attachments, key: key)
        try await finish()
        return try answer(to: id, R.self)
    }

    /// The code of the refusal, or `ok`.
    func refusal<R: Request>(
        _ request: R, from peer: PeerEntry? = nil, owner: Owner? = nil, token: [UInt8] = [],
        attachments: [SharedSecret] = [], key: IdempotencyKey? = nil
    ) async throws -> String {
        do {
            try await ask(
                request, from: peer, owner: owner, token: token, attachments: attachments,
                key: key)
            return "ok"
        } catch let refusal as Refusal {
            return refusal.code
        }
    }

    func outcome(of key: IdempotencyKey) async throws -> OutcomeReply {
        try await ask(AskOutcome<Shares>(key: key)).reply
    }

    // MARK: Sessions

    /// A token for both services.
    func token(
        _ scope: Scope, owner: Owner? = nil, holder: PeerEntry? = nil,
        audience: Set<ServiceName> = [.walletVault, .backupShares], origin: Origin = .passcode
    ) throws -> [UInt8] {
        try authority.open(
            scope, for: owner ?? self.owner, holder: (holder ?? app).key, origin: origin,
            audience: audience
        ).token
    }

    func settings() throws -> [UInt8] { try token(.settings, audience: [.backupShares]) }

    func resource(_ namespace: Namespace? = nil, owner: Owner? = nil) throws -> [UInt8] {
        try token(.resource(namespace ?? main), owner: owner)
    }

    /// Does something to the store behind the service's back.
    func tamper(_ body: (Database) throws -> Void) throws {
        try database.write { try body(database) }
        try database.commitBatch()
    }

    /// Lets time go by, with the authority's heartbeats.
    func pass(milliseconds: UInt64) async throws {
        var left = milliseconds
        while left > 0 {
            let step = min(left, 500)
            clock.advance(milliseconds: step)
            left -= step
            authority.publish()
            try await turns(2)
        }
    }
}

/// Somebody who keeps shares.
struct Holder: Sendable {
    let name: HolderName
    let privateKey: SharedSecret
    let publicKey: [UInt8]

    init(_ name: String, seed: UInt8) throws {
        self.name = try #require(HolderName(name))
        privateKey = SharedSecret(SecretBytes(copying: [UInt8](repeating: seed, count: 32)))
        publicKey = try Ed25519.publicKey(seed: privateKey.bytes)
    }
}

func secret(_ bytes: [UInt8]) -> SharedSecret { SharedSecret(SecretBytes(copying: bytes)) }

func secret(_ text: String) -> SharedSecret { secret(Array(text.utf8)) }

extension SharedSecret {
    var array: [UInt8] { bytes.withBytes { Array($0) } }
}
