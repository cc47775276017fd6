import AuthorityMessages
import Clocks
import LimiterCore
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Tokens
import Wire

@testable import AuthorityCore

/// An authority and a limiter in one process, over real stores, with a bus that is a function call.
///
/// Everything runs on the loop, one step after the other, and time passes only when a test says so
/// or when nothing else is left to do.
@ServiceLoop
final class Bench {
    let clock = FakeBootClock()
    let wallClock = FixedWallClock()
    let timers: Timers
    let random: SeededRandom
    let events = EventLog()
    let kdf = CheapKDF()
    let tokens: FakeTokens
    let vault = VaultDouble()
    let folder: TemporaryFolder
    let peers = PeerTable()
    let settings: AuthoritySettings
    /// Whether the clock goes on to the next timer when nothing else is left to do.
    var timePasses = true

    private(set) var limiter: Node<LimiterService>
    private(set) var way: LimiterWay
    private var running: Node<AuthorityService>?
    /// Killed ones: what they still hold must not be taken from under them.
    private var dead: [AnyObject] = []
    private var lastKey: UInt64 = 0

    init(seed: UInt64 = 1, settings: AuthoritySettings = AuthoritySettings()) throws {
        timers = Timers(clock: clock)
        tokens = FakeTokens(timers: timers)
        random = SeededRandom(seed: seed)
        folder = try TemporaryFolder(inMemory: true)
        self.settings = settings
        limiter = try Self.makeLimiter(folder, clock, random, peers)
        way = LimiterWay(to: limiter)
        try start()
    }

    var authority: Node<AuthorityService> {
        guard let running else { preconditionFailure("the authority runs") }
        return running
    }

    var service: AuthorityService { authority.service }

    // MARK: Starting and killing

    /// Starts an authority on the store as it is on the disk.
    func start() throws {
        let store = try Database(
            path: folder.path(of: "authority.sqlite"), schema: AuthorityService.schema)
        let group = CommitGroup(store: store, clock: clock)
        try group.write { try group.journal.recover(unfinished: []) }
        try store.commitBatch()
        way = LimiterWay(to: limiter)
        let metrics = MetricsRegistry()
        let service = try AuthorityService(
            AuthorityParts(
                group: group, clock: clock, awake: clock, wallClock: wallClock, timers: timers,
                random: random,
                limiter: ServiceClient(port: way), vault: ServiceClient(port: vault), kdf: kdf,
                deviceKeys: tokens, events: events, metrics: metrics,
                settings: settings))
        try service.rebuild()
        running = Node(service, group: group, metrics: metrics, clock: clock, peers: peers)
    }

    /// Ends the authority where it stands: what was not committed is gone.
    func kill() {
        way.isCut = true
        vault.cut()
        tokens.cut()
        authority.group.store.abandonBatch()
        authority.group.store.close()
        dead += [authority, way]
        running = nil
    }

    func restart() throws {
        kill()
        try start()
    }

    /// Ends the limiter and starts it anew; its memory is gone.
    func restartLimiter() throws {
        limiter.group.store.abandonBatch()
        limiter.group.store.close()
        dead.append(limiter)
        limiter = try Self.makeLimiter(folder, clock, random, peers)
        way.node = limiter
    }

    private static func makeLimiter(
        _ folder: TemporaryFolder, _ clock: FakeBootClock, _ random: SeededRandom,
        _ peers: PeerTable
    ) throws -> Node<LimiterService> {
        let store = try Database(
            path: folder.path(of: "limiter.sqlite"), schema: LimiterService.schema)
        let group = CommitGroup(store: store, clock: clock)
        let metrics = MetricsRegistry()
        let service = LimiterService(
            group: group, clock: clock, random: random, metrics: metrics)
        try service.rebuild()
        return Node(service, group: group, metrics: metrics, clock: clock, peers: peers)
    }

    // MARK: Asking

    /// Hands a request in; its answer is fetched later.
    func post<R: Request>(
        _ request: R, as peer: Peer = .app, owner: Owner = .local, token: [UInt8] = [],
        secret: String? = nil, key: IdempotencyKey? = nil, timeoutMilliseconds: UInt64 = 60_000
    ) -> Pending<R> {
        let attachments = secret.map { [SharedSecret(SecretBytes(copying: Array($0.utf8)))] } ?? []
        return post(
            request, as: peer, owner: owner, token: token, attachments: attachments, key: key,
            timeoutMilliseconds: timeoutMilliseconds)
    }

    func post<R: Request>(
        _ request: R, as peer: Peer = .app, owner: Owner = .local, token: [UInt8] = [],
        attachments: [SharedSecret], key: IdempotencyKey? = nil,
        timeoutMilliseconds: UInt64 = 60_000
    ) -> Pending<R> {
        lastKey += 1
        let options = CallOptions(
            owner: owner, token: token, timeoutMilliseconds: timeoutMilliseconds,
            idempotency: R.kind == .change ? key ?? .numbered(lastKey) : nil)
        let id = authority.nextID()
        authority.receive(
            RequestFrames(request, id: id, options: options, attachments: attachments), id: id,
            from: peer.key)
        return Pending(id: id)
    }

    /// Asks and lets everything run until the answer is there.
    func ask<R: Request>(
        _ request: R, as peer: Peer = .app, owner: Owner = .local, token: [UInt8] = [],
        secret: String? = nil, key: IdempotencyKey? = nil, timeoutMilliseconds: UInt64 = 60_000
    ) async throws -> Answer<R> {
        let pending = post(
            request, as: peer, owner: owner, token: token, secret: secret, key: key,
            timeoutMilliseconds: timeoutMilliseconds)
        return try await answer(pending)
    }

    /// The code of the error that a request gets; nil where it gets an answer.
    func refusal<R: Request>(
        _ request: R, as peer: Peer = .app, owner: Owner = .local, token: [UInt8] = [],
        secret: String? = nil, key: IdempotencyKey? = nil, timeoutMilliseconds: UInt64 = 60_000
    ) async throws -> String? {
        let pending = post(
            request, as: peer, owner: owner, token: token, secret: secret, key: key,
            timeoutMilliseconds: timeoutMilliseconds)
        return try await refusal(of: pending)
    }

    func refusal<R: Request>(of pending: Pending<R>) async throws -> String? {
        do {
            _ = try await answer(pending)
            return nil
        } catch let refusal as Refusal {
            return refusal.code
        }
    }

    func answer<R: Request>(_ pending: Pending<R>) async throws -> Answer<R> {
        try await run { authority.replies[pending.id] != nil }
        guard let frames = authority.replies[pending.id] else { throw NoAnswer() }
        return try frames.answer(to: R.self)
    }

    func isAnswered<R: Request>(_ pending: Pending<R>) -> Bool {
        authority.replies[pending.id] != nil
    }

    // MARK: Running

    /// Lets everything run until a condition holds or nothing more happens.
    func run(until isDone: () -> Bool) async throws {
        for _ in 0..<10_000 {
            await LoopHarness.settle()
            if isDone() { return }
            if try endTurns() { continue }
            guard timePasses, let next = timers.nextDeadline else { return }
            let now = clock.now.nanoseconds
            clock.advance(nanoseconds: next > now ? next - now : 0)
            timers.fire()
        }
    }

    /// Lets everything run that needs no time to pass.
    func settle() async throws {
        let before = timePasses
        timePasses = false
        try await run { false }
        timePasses = before
    }

    /// Moves the clock and lets run what that wakes.
    func advance(milliseconds: UInt64) async throws {
        clock.advance(milliseconds: milliseconds)
        timers.fire()
        try await settle()
    }

    /// Lets everything run up to the authority's next write, and what goes on without its commit.
    func runUntilWritten() async throws {
        for _ in 0..<100 where !authority.group.store.hasOpenBatch {
            await LoopHarness.settle()
            try limiter.endTurn()
        }
        for _ in 0..<10 {
            await LoopHarness.settle()
            try limiter.endTurn()
        }
    }

    /// One step of whatever can go on: what waits runs, then turns end, then the next timer fires.
    func step() async throws {
        await LoopHarness.settle()
        if try endTurns() { return }
        guard let next = timers.nextDeadline else { return }
        let now = clock.now.nanoseconds
        clock.advance(nanoseconds: next > now ? next - now : 0)
        timers.fire()
    }

    /// Ends a turn of whoever has something to commit or to send.
    @discardableResult
    func endTurns() throws -> Bool {
        let authorityHad = try running?.endTurn() ?? false
        let limiterHad = try limiter.endTurn()
        return authorityHad || limiterHad
    }
}

/// A request whose answer may not have come yet.
struct Pending<R: Request> {
    let id: UInt64
}

struct NoAnswer: Error {}

extension IdempotencyKey {
    static func numbered(_ number: UInt64) -> IdempotencyKey {
        let bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
        return IdempotencyKey([UInt8](repeating: 0, count: 8) + bytes) ?? fail()
    }
}

extension Owner {
    static let local = Owner("local") ?? fail()
    static let other = Owner("other") ?? fail()
}

extension Namespace {
    static let main = Namespace("telegram.production.1") ?? fail()
    static let side = Namespace("telegram.production.2") ?? fail()
}

extension WalletID {
    static let first = WalletID("11111111-2222-4333-8444-555555555555") ?? fail()
    static let second = WalletID("22222222-2222-4333-8444-555555555555") ?? fail()
}

func fail<T>() -> T { preconditionFailure("a name of the tests is well-formed") }
