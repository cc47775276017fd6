import Clocks
import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Wire

@Suite struct HostedLimiterRules {
    @Test(arguments: [
        Role.app, .extension, .engine, .operator, .service(.walletVault), .service(.migration),
        .service(.backupShares), .service(.attemptLimiter),
    ]) func onlyTheAuthorityMayAsk(_ role: Role) async throws {
        try await LoopHarness.run {
            let host = try HostedLimiter(role: role)
            let id: EnrolmentID = try host.drawnID()
            let bytes = [UInt8](repeating: 1, count: 64)
            let sixteen = Array(bytes.prefix(16))
            let key = Array(bytes.prefix(32))
            let attempt: AttemptID = try host.drawnID()
            let refusals = [
                try await host.refusal(DrawChallenge()),
                try await host.refusal(
                    Enrol(challenge: sixteen, confirmKey: key, signature: bytes)),
                try await host.refusal(
                    Begin(enrolment: id, nonce: sixteen, lastCharge: 0), [secret("1234")]),
                try await host.refusal(Confirm(attempt: attempt, signature: bytes)),
                try await host.refusal(
                    Prove(enrolment: id, challenge: sixteen, signature: bytes)),
                try await host.refusal(Forget(enrolment: id)),
                try await host.refusal(AskStanding()),
                try await host.refusal(RepairAttempts(lastCharge: 0)),
            ]
            #expect(refusals.allSatisfy { $0 == BusFault.forbidden.rawValue })
            #expect(refusals.count == LimiterService.methods.count)
        }
    }

    @Test func anAnswerLeavesAfterItsChargeIsDurable() async throws {
        try await LoopHarness.run {
            let host = try HostedLimiter()
            let enrolment = try await host.enrol()
            let answer = try await host.call(
                Begin(enrolment: enrolment, nonce: host.random.bytes(16), lastCharge: 0),
                [secret("1234")])
            guard case .charged(_, 1) = answer.reply else { throw Unexpected() }
            #expect(answer.attachments.map(\.plain.count) == [32])
            #expect(host.everyReplyWasAfterItsCommit)
        }
    }

    @Test func aChargeThatIsNotDurableGetsNoAnswer() async throws {
        try await LoopHarness.run {
            let host = try HostedLimiter()
            let enrolment = try await host.enrol()
            let request = Begin(
                enrolment: enrolment, nonce: host.random.bytes(16), lastCharge: 0)
            await host.give(request, [secret("1234")])
            // The store gives up the transaction by itself, as it does on some failures of a disk.
            try host.store.run("ROLLBACK")
            try host.endTurn()
            let reply = try #require(host.sent.last)
            #expect(reply.attachments.isEmpty)
            #expect(throws: StorageFault.failed.refusal) { try reply.answer(to: Begin.self) }
            #expect(try await host.call(AskStanding()).reply.failed == 0)
            let again = try await host.call(request, [secret("1234")])
            #expect(again.attachments.count == 1)
        }
    }

    @Test func theRefusalOfAStoreThatIsBehindIsDurable() async throws {
        try await LoopHarness.run {
            let host = try HostedLimiter()
            let enrolment = try await host.enrol()
            let request = Begin(
                enrolment: enrolment, nonce: host.random.bytes(16), lastCharge: 9)
            let code = try await host.refusal(request, [secret("1234")])
            #expect(code == LimiterFault.rolledBack.rawValue)
            #expect(host.everyReplyWasAfterItsCommit)
            try host.store.reopen()
            #expect(try await host.call(AskStanding()).reply.failed == 6)
        }
    }

    @Test(arguments: [0, 2]) func anAttemptHasExactlyOneCode(_ count: Int) async throws {
        try await LoopHarness.run {
            let host = try HostedLimiter()
            let enrolment = try await host.enrol()
            let request = Begin(
                enrolment: enrolment, nonce: host.random.bytes(16), lastCharge: 0)
            let code = try await host.refusal(
                request, Array(repeating: secret("1234"), count: count))
            #expect(code == BusFault.malformed.rawValue)
            #expect(try await host.call(AskStanding()).reply.failed == 0)
        }
    }
}

/// A limiter behind a real host, with a bus that is an array.
@ServiceLoop
private final class HostedLimiter: ReplyPort {
    let random = SeededRandom(seed: 5)
    let store: Database
    private(set) var sent: [ReplyFrames] = []
    private(set) var everyReplyWasAfterItsCommit = true
    private let owner: Owner
    private let peer: PeerKey
    private let folder: TemporaryFolder
    private var host: ServiceHost<LimiterService>?
    private var lastID: UInt64 = 0

    init(role: Role = .service(.credentialAuthority)) throws {
        folder = try TemporaryFolder(inMemory: true)
        owner = try Owner(named: "ann")
        guard let peer = PeerKey([UInt8](repeating: 7, count: 32)) else { throw Unexpected() }
        self.peer = peer
        let clock = FakeBootClock()
        store = try Database(path: folder.path(of: "store.sqlite"), schema: LimiterService.schema)
        let group = CommitGroup(store: store, clock: clock)
        let metrics = MetricsRegistry()
        let service = LimiterService(
            group: group, clock: clock, random: random, metrics: metrics)
        host = ServiceHost(
            service, group: group, peers: OnePeer(role: role), clock: clock, port: self,
            metrics: metrics, version: "0")
    }

    func send(_ reply: ReplyFrames, to route: [UInt8]) {
        if store.hasOpenBatch { everyReplyWasAfterItsCommit = false }
        sent.append(reply)
    }

    /// Gives a request to the host and does not end the turn.
    func give<R: Request>(_ request: R, _ attachments: [SharedSecret] = []) async {
        lastID += 1
        let frames = RequestFrames(
            request, id: lastID, options: CallOptions(owner: owner), attachments: attachments)
        host?.receive(
            route: [0, 0, 0, 0, 1], peer: peer, header: frames.header, content: .success(frames))
        await LoopHarness.settle()
    }

    func endTurn() throws { try host?.endTurn() }

    func call<R: Request>(
        _ request: R, _ attachments: [SharedSecret] = []
    ) async throws -> Answer<R> {
        await give(request, attachments)
        try endTurn()
        guard let reply = sent.popLast() else { throw Unexpected() }
        return try reply.answer(to: R.self)
    }

    /// The code of the refusal; nil for an answer.
    func refusal<R: Request>(
        _ request: R, _ attachments: [SharedSecret] = []
    ) async throws -> String? {
        do {
            _ = try await call(request, attachments)
            return nil
        } catch let refusal as Refusal {
            return refusal.code
        }
    }

    func enrol() async throws -> EnrolmentID {
        let key = try AccessKey(from: random)
        let challenge = try await call(DrawChallenge()).reply.challenge
        let request = Enrol(
            challenge: challenge, confirmKey: key.publicKey,
            signature: key.sign(.enrol, owner, challenge))
        return try await call(request).reply.enrolment
    }

    func drawnID<Named>() throws -> Identifier<Named> {
        guard let id = Identifier<Named>(random.bytes(16)) else { throw Unexpected() }
        return id
    }

    private struct OnePeer: PeerDirectory {
        let role: Role

        func entry(for key: PeerKey) -> PeerEntry? {
            PeerEntry(name: "test", key: key, role: role, owners: .all, mayDestroy: true)
        }
    }
}
