import AuthorityDouble
import AuthorityMessages
import Clocks
import Glibc
import Loop
import MigrationMessages
import Mnemonics
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import AuthorityClient
@testable import MigrationCore

/// A migration in one process: the real service, host, store and tokens, with an authority and a
/// vault of the test.
@ServiceLoop
final class Rig: ReplyPort {
    let clock = FakeBootClock()
    let random: SeededRandom
    let timers: Timers
    let authority: AuthorityDouble
    let vault: FakeVault
    let folder: TemporaryFolder
    let database: Database
    let group: CommitGroup
    let path: SourcePath
    private(set) var service: MigrationService
    private(set) var summaries: [RunSummary] = []
    private var host: ServiceHost<MigrationService>
    private let link: AuthorityLink
    private var replies: [UInt64: ReplyFrames] = [:]
    private var lastID: UInt64 = 0
    private let idler = WorkerPool(width: 1)

    let owner: Owner
    let other: Owner
    let main: Namespace
    let app: PeerEntry

    init(
        stretch: @escaping PhraseStretching = MigrationService.stretchPhrase,
        limits: MigrationLimits = MigrationLimits(), threads: Int = 2
    ) throws {
        random = SeededRandom(seed: 1)
        timers = Timers(clock: clock)
        folder = try TemporaryFolder(inMemory: true)
        let source: SourcePath? = SourcePath(folder.path(of: "keychain"))
        path = try #require(source)
        database = try Database(
            path: folder.path(of: "migration.db"), schema: MigrationService.schema)
        group = CommitGroup(store: database, clock: clock)
        authority = try AuthorityDouble(clock: clock, random: SeededRandom(seed: 2))
        link = AuthorityLink(
            service: .migration, domains: [],
            authority: ServiceClient(port: authority.port(for: .migration)),
            clock: clock, timers: timers)
        authority.listen { [weak link] notice in link?.hear(notice) }
        owner = try #require(Owner("local"))
        other = try #require(Owner("second"))
        main = try #require(Namespace("dash.mainnet"))
        let key: PeerKey? = PeerKey([UInt8](repeating: 1, count: 32))
        app = PeerEntry(
            name: "app", key: try #require(key), role: .app, owners: .all, mayDestroy: false)
        vault = FakeVault(
            authority: authority, holder: app.key, random: SeededRandom(seed: 3))
        let box = SummaryBox()
        service = MigrationService(
            group: group, link: link, vault: ServiceClient(port: vault), clock: clock,
            wallClock: FixedWallClock(), timers: timers, random: random,
            pool: WorkerPool(width: threads), stretch: stretch, limits: limits,
            report: { box.report($0) })
        let port = PortBox()
        host = ServiceHost(
            service, group: group, peers: OnePeer(peer: app), clock: clock, port: port,
            metrics: MetricsRegistry(), version: "test")
        try group.write { try group.journal.recover(unfinished: []) }
        port.rig = self
        box.rig = self
        authority.publish()
    }

    fileprivate func note(_ summary: RunSummary) { summaries.append(summary) }

    // MARK: Asking

    func send(_ reply: ReplyFrames, to route: [UInt8]) {
        guard let header = try? ReplyHeader(decoding: reply.header) else { return }
        replies[header.id] = reply
    }

    /// Asks and waits for the answer.
    @discardableResult
    func ask<R: Request>(
        _ request: R, owner: Owner? = nil, token: [UInt8] = [], key: IdempotencyKey? = nil
    ) async throws -> R.Reply {
        lastID += 1
        let id = lastID
        let idempotency =
            R.kind == .change ? key ?? IdempotencyKey(random.bytes(IdempotencyKey.byteCount)) : nil
        let frames = RequestFrames(
            request, id: id,
            options: CallOptions(
                owner: owner ?? self.owner, token: token, idempotency: idempotency),
            attachments: [])
        host.receive(
            route: [1], peer: app.key, header: frames.header, content: .success(frames))
        try await pass { self.replies[id] != nil }
        return try #require(replies[id]).answer(to: R.self).reply
    }

    /// Asks for something that must be refused, and gives the code.
    func refusal<R: Request>(
        _ request: R, owner: Owner? = nil, token: [UInt8] = []
    ) async throws -> String {
        do {
            try await ask(request, owner: owner, token: token)
            return "ok"
        } catch let refusal as Refusal {
            return refusal.code
        }
    }

    /// Lets turns and time pass until something holds; other threads get time of their own.
    func pass(until holds: () -> Bool) async throws {
        for round in 0..<20_000 {
            await LoopHarness.settle()
            timers.fire()
            await LoopHarness.settle()
            try host.endTurn()
            if holds() { return }
            clock.advance(milliseconds: 1)
            if round % 250 == 249 { authority.publish() }
            await idler.run { _ = usleep(200) }
        }
        Issue.record("it never came to pass")
    }

    // MARK: What tests do often

    func token(
        _ scope: Scope? = nil, owner: Owner? = nil, origin: Origin = .passcode,
        audience: Set<ServiceName> = [.walletVault, .migration]
    ) throws -> [UInt8] {
        try session(scope, owner: owner, origin: origin, audience: audience).token
    }

    func session(
        _ scope: Scope? = nil, owner: Owner? = nil, origin: Origin = .passcode,
        audience: Set<ServiceName> = [.walletVault, .migration]
    ) throws -> (token: [UInt8], session: SessionID) {
        try authority.open(
            scope ?? .resource(main), for: owner ?? self.owner, holder: app.key, origin: origin,
            audience: audience)
    }

    func lay(_ keychain: TestKeychain, _ format: TestKeychain.Format = .binary) {
        TestFile.write(keychain.bytes(format), to: path.text)
    }

    func plan(after: String? = nil, owner: Owner? = nil) async throws -> PlanMigration.Reply {
        try await ask(PlanMigration(source: path, after: after), owner: owner)
    }

    func launch(owner: Owner? = nil) async throws -> LaunchState {
        try await ask(AskLaunchState(source: path), owner: owner).launch
    }

    func status(owner: Owner? = nil) async throws -> AskMigrationStatus.Reply {
        try await ask(AskMigrationStatus(), owner: owner)
    }

    func applying(
        _ network: WalletNetwork = .mainnet, again: Bool = false
    ) -> ApplyMigration {
        ApplyMigration(source: path, network: network, namespace: main, again: again)
    }

    /// Takes wallets in, and tells how the run ended.
    func apply(
        _ network: WalletNetwork = .mainnet, again: Bool = false, owner: Owner? = nil
    ) async throws -> RunProgress {
        let run = try await ask(
            applying(network, again: again), owner: owner, token: token(owner: owner)
        ).run
        return try await end(of: run, owner: owner)
    }

    func verify(_ network: WalletNetwork = .mainnet) async throws -> RunProgress {
        let run = try await ask(
            VerifyMigration(source: path, network: network, namespace: main), token: token()
        ).run
        return try await end(of: run)
    }

    func end(of run: MigrationRunID, owner: Owner? = nil) async throws -> RunProgress {
        let owner = owner ?? self.owner
        try await pass { self.service.runs[owner]?.isRunning == false }
        return try await ask(FollowRun(run: run), owner: owner)
    }

    /// Lets the vault be busy from so many wallets on, so that a run comes no further.
    func holdVault(from count: Int) {
        vault.before = { [unowned self] _ in
            if vault.wallets.count >= count { throw BusFault.busy }
        }
    }

    /// Does something to the store behind the service's back.
    func tamper(_ body: (Database) throws -> Void) throws {
        try database.write { try body(database) }
        try database.commitBatch()
    }

    /// The identities that the vault has of an owner, each as often as it has it.
    func identities(_ owner: Owner? = nil) -> [[UInt8]] {
        vault.wallets.filter { $0.owner == owner ?? self.owner }.map(\.identity)
            .sorted { $0.lexicographicallyPrecedes($1) }
    }
}

@ServiceLoop
private final class SummaryBox {
    weak var rig: Rig?

    func report(_ summary: RunSummary) { rig?.note(summary) }
}

@ServiceLoop
private final class PortBox: ReplyPort {
    weak var rig: Rig?

    func send(_ reply: ReplyFrames, to route: [UInt8]) { rig?.send(reply, to: route) }
}

private struct OnePeer: PeerDirectory {
    let peer: PeerEntry

    func entry(for key: PeerKey) -> PeerEntry? { key == peer.key ? peer : nil }
}

private struct FixedWallClock: WallClock {
    var milliseconds: UInt64 { 1_790_000_000_000 }
}
