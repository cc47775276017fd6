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
final class Rig: ServiceRig {
    let clock = FakeBootClock()
    let random: SeededRandom
    let timers: Timers
    let authority: AuthorityDouble
    let vault: VaultHouse
    let identifier = InlineIdentifier()
    /// Called before a turn of the service is committed.
    var beforeTurnEnds: (@ServiceLoop () -> Void)?
    let folder: TemporaryFolder
    private let limits: SharesLimits
    private(set) var database: Database
    private(set) var service: SharesService
    private(set) var host: ServiceHost<SharesService>?
    let replies = ReplyBox()
    private var link: AuthorityLink

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
    private let peers: KnownPeers
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
        app = try PeerEntry(number: 1, .app)
        second = try PeerEntry(number: 2, .app)
        engine = try PeerEntry(number: 3, .engine)
        remover = try PeerEntry(number: 5, .app, mayDestroy: true)
        let shares = try PeerEntry(number: 4, .service(.backupShares))
        peers = KnownPeers([app, second, engine, remover, shares])
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
            service, group: group, peers: peers, clock: clock, port: replies,
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

    /// Runs some turns of both services; the clock stands still.
    func turns(_ count: Int = 40) async throws {
        for _ in 0..<count {
            await LoopHarness.settle()
            timers.fire()
            try vault.endTurn()
            await LoopHarness.settle()
            beforeTurnEnds?()
            try host?.endTurn()
        }
    }

    /// Runs turns until nothing is under way.
    func finish() async throws {
        repeat { try await turns(1) } while host?.isIdle == false || !vault.isIdle
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
