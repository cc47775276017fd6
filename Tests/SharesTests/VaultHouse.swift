import AuthorityClient
import AuthorityDouble
import Clocks
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Testing
import VaultCore
import VaultMessages
import Wire

/// The real vault in this process, and a way to it that can fail in every way that a bus can.
@ServiceLoop
final class VaultHouse: FramePort, ReplyPort {
    /// What becomes of requests on their way.
    enum Weather {
        case fair
        /// Nobody is there: nothing is sent.
        case outage
        /// The request is lost, and no answer comes.
        case lostRequest
        /// The request is carried out, and its answer is lost.
        case lostAnswer
        /// Neither comes for as long as the test waits; see ``VaultHouse/letThrough()``.
        case held
    }

    /// By method; others are fair.
    var weather: [String: Weather] = [:]
    /// Called with the method when a request arrives, before the vault has it.
    var onArrival: (@ServiceLoop (_ method: String) -> Void)?
    /// Called with each answer when it leaves.
    var onAnswer: (@ServiceLoop (ReplyFrames) -> Void)?
    /// How often each method arrived.
    private(set) var arrived: [String: Int] = [:]
    /// The timeouts that requests came with, by method.
    private(set) var timeouts: [String: UInt64] = [:]
    /// The idempotency keys that were named as settled.
    private(set) var settled: [IdempotencyKey] = []

    private let clock: FakeBootClock
    private let timers: Timers
    private let folder: TemporaryFolder
    private let authority: AuthorityDouble
    private let peer: PeerEntry
    private let peers: KnownPeers
    private var host: ServiceHost<VaultService>?
    private var database: Database?
    private var answers: [UInt64: CheckedContinuation<ReplyFrames?, Never>] = [:]
    private var held: [CheckedContinuation<Void, Never>] = []
    private var lastRoute: UInt64 = 0
    private var answersOfTests: [UInt64: ReplyFrames] = [:]

    init(
        clock: FakeBootClock, timers: Timers, authority: AuthorityDouble, peer: PeerEntry,
        peers: KnownPeers
    ) throws {
        self.clock = clock
        self.timers = timers
        self.authority = authority
        self.peer = peer
        self.peers = peers
        folder = try TemporaryFolder(inMemory: true)
        try start()
    }

    /// Starts the vault anew on what its store has; requests under way are lost.
    func restart() throws {
        host = nil
        database?.close()
        let waiting = answers.values
        answers = [:]
        for answer in waiting { answer.resume(returning: nil) }
        try start()
    }

    private func start() throws {
        let database = try Database(
            path: folder.path(of: "vault.db"), schema: VaultService.schema)
        let group = CommitGroup(store: database, clock: clock)
        let link = AuthorityLink(
            service: .walletVault, domains: VaultService.keyDomains,
            authority: ServiceClient(port: authority.port(for: .walletVault)), clock: clock,
            timers: timers)
        authority.listen { [weak link] in link?.hear($0) }
        let service = VaultService(
            group: group, link: link, clock: clock, random: SeededRandom(seed: 77 + lastRoute),
            stretcher: PooledStretcher(pool: WorkerPool(width: 1)))
        host = ServiceHost(
            service, group: group, peers: peers, clock: clock, port: self,
            metrics: MetricsRegistry(), version: "test")
        try group.write {
            try group.journal.recover(unfinished: service.unfinishedChanges())
        }
        try database.commitBatch()
        self.database = database
    }

    // MARK: The way from backup-shares

    func exchange(
        _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        guard let header = try? RequestHeader(decoding: frames.header) else { throw .malformed }
        let weather = weather[header.method] ?? .fair
        if weather == .outage { throw .unreachable }
        arrived[header.method, default: 0] += 1
        timeouts[header.method] = timeoutMilliseconds
        settled += header.settled
        onArrival?(header.method)
        if weather == .lostRequest { throw .expired }
        if weather == .held { await withCheckedContinuation { held.append($0) } }
        lastRoute += 1
        let route = lastRoute
        let answer = await withCheckedContinuation { answer in
            answers[route] = answer
            host?.receive(
                route: Self.bytes(route), peer: peer.key, header: frames.header,
                content: .success(frames))
        }
        guard let answer, weather != .lostAnswer else { throw .lost }
        return answer
    }

    /// Lets what was held go on.
    func letThrough() {
        for request in held { request.resume() }
        held = []
    }

    func send(_ reply: ReplyFrames, to route: [UInt8]) {
        onAnswer?(reply)
        let number = route.reduce(0) { $0 << 8 | UInt64($1) }
        if let answer = answers.removeValue(forKey: number) {
            answer.resume(returning: reply)
        } else {
            answersOfTests[number] = reply
        }
    }

    func endTurn() throws { try host?.endTurn() }

    var isIdle: Bool { host?.isIdle != false }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    // MARK: What tests do with the vault itself

    func ask<R: Request>(
        _ request: R, from peer: PeerEntry, owner: Owner, token: [UInt8],
        attachments: [SharedSecret] = []
    ) async throws -> Answer<R> {
        lastRoute += 1
        let key: IdempotencyKey? = IdempotencyKey(
            [UInt8](repeating: 0xEE, count: 8) + Self.bytes(lastRoute))
        let frames = RequestFrames(
            request, id: lastRoute,
            options: CallOptions(
                owner: owner, token: token, idempotency: R.kind == .change ? key : nil),
            attachments: attachments)
        let route = lastRoute
        host?.receive(
            route: Self.bytes(route), peer: peer.key, header: frames.header,
            content: .success(frames))
        while answersOfTests[route] == nil {
            await LoopHarness.settle()
            timers.fire()
            try endTurn()
        }
        let answer = answersOfTests.removeValue(forKey: route)
        return try #require(answer).answer(to: R.self)
    }
}
