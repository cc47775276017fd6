import AuthorityMessages
import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Serving
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// Whatever is sent, lost, locked, changed or killed in whatever order: what was revoked stays so,
/// and in the end exactly one passcode opens.
@Suite(.timeLimit(.minutes(2)))
struct RandomRunRules {
    @Test(arguments: 0..<60)
    func theyKeepTheirPromises(_ seed: UInt64) async throws {
        try await LoopHarness.run {
            let run = try RandomRun(seed: seed)
            try await run.begin()
            for _ in 0..<60 { try await run.act() }
            try await run.end()
        }
    }
}

/// One run, and what must hold in it.
@ServiceLoop
private final class RandomRun {
    /// A check that was asked for, and the token when it has come.
    private struct Check {
        let pending: Pending<Verify>
        let isRight: Bool
        /// How many locks, changes and restarts there had been when it was asked for.
        let asked: Int
        var token: [UInt8]?
        var isDone = false
    }

    private struct Change {
        let pending: Pending<SetPasscode>
        let key: IdempotencyKey
        let code: String
        let asked: Int
    }

    private let bench: Bench
    private let random: SeededRandom
    private var code = "0000"
    private var checks: [Check] = []
    private var changes: [Change] = []
    /// Goes up with everything that ends sessions.
    private var ends = 0
    private var lastKey: UInt64 = 1_000

    init(seed: UInt64) throws {
        bench = try Bench(seed: seed)
        random = SeededRandom(seed: seed &+ 77)
    }

    func begin() async throws { try await bench.set(code) }

    func act() async throws {
        switch random.number(in: 0...9) {
        case 0, 1, 2: try check(isRight: random.chance(percent: 60))
        case 3: lock()
        case 4, 5: try await change()
        case 6: loseSomething()
        case 7 where random.chance(percent: 30): try await restart()
        case 8 where random.chance(percent: 30): bench.clock.advance(seconds: 61)
        default: try await use()
        }
        for _ in 0..<random.number(in: 0...6) { try await bench.step() }
        try collect()
    }

    // MARK: Acts

    private func check(isRight: Bool) throws {
        let request = Verify(scope: .resource(.main), audience: [.walletVault])
        let pending = bench.post(request, secret: isRight ? code : "9999")
        checks.append(Check(pending: pending, isRight: isRight, asked: ends))
    }

    private func lock() {
        ends += 1
        _ = bench.post(Lock())
    }

    /// Changes the passcode in a settings session of its own, one change at a time.
    private func change() async throws {
        guard changes.isEmpty else { return }
        let asked = ends
        let settings = bench.post(Verify(scope: .settings, audience: []), secret: code)
        guard let answer = try? await bench.answer(settings), asked == ends,
            let token = answer.attachments.first
        else { return }
        lastKey += 1
        let new = String(1_000 + lastKey % 8_000)
        let key = IdempotencyKey.numbered(lastKey)
        let pending = bench.post(
            SetPasscode(passcodeKind: .digits4), token: token.bytes.open, secret: new, key: key)
        changes.append(Change(pending: pending, key: key, code: new, asked: asked))
    }

    private func loseSomething() {
        let methods = [
            Begin.method, Confirm.method, DrawChallenge.method, Prove.method, AskStanding.method,
        ]
        guard let method = random.pick(methods),
            let mishap = random.pick(LimiterWay.Mishap.allCases)
        else { return }
        bench.way.mishaps.append((method, mishap))
    }

    private func restart() async throws {
        ends += 1
        try bench.restart()
        checks = []
        for change in changes { try await settle(change) }
        changes = []
    }

    /// Uses a token; one that was asked for before a lock, a change or a restart opens nothing.
    private func use() async throws {
        guard let check = random.pick(checks.filter { $0.token != nil }),
            let token = check.token
        else { return }
        let asked = ends
        let pending = bench.derive(token)
        let refused = try await bench.refusal(of: pending)
        if check.asked < asked { #expect(refused != nil) }
    }

    // MARK: What came of them

    private func collect() throws {
        for index in checks.indices where !checks[index].isDone {
            guard bench.isAnswered(checks[index].pending) else { continue }
            checks[index].isDone = true
            guard let answer = try bench.answerNow(checks[index].pending) else { continue }
            if case .verified = answer.reply {
                #expect(checks[index].isRight)
                checks[index].token = answer.attachments.first?.bytes.open
            }
        }
        for change in changes where bench.isAnswered(change.pending) {
            if try bench.answerNow(change.pending) != nil { take(change) }
            changes = []
        }
    }

    private func take(_ change: Change) {
        code = change.code
        ends += 1
    }

    /// After a restart the outcome tells what became of a change.
    private func settle(_ change: Change) async throws {
        let told = try await bench.ask(AskOutcome<Authority>(key: change.key)).reply
        #expect(told.status != .inFlight)
        if told.status == .done { take(change) }
    }

    /// At rest: the one passcode opens, no other does, and a success leaves no charge.
    func end() async throws {
        bench.way.mishaps = []
        try await bench.run { false }
        try collect()
        #expect(checks.allSatisfy(\.isDone) && changes.isEmpty)
        bench.clock.advance(seconds: 61)
        #expect(try await bench.unlock(code).isVerified)
        #expect(try bench.failed() == 0)
        #expect(try await bench.unlock("9999").isVerified == false)
        let metrics = bench.authority.metrics
        #expect(metrics.value(of: "kdf_runs") > 0)
    }
}

extension Bench {
    /// The answer that is there; nil for a refusal.
    func answerNow<R: Request>(_ pending: Pending<R>) throws -> Answer<R>? {
        guard let frames = authority.replies[pending.id] else { throw NoAnswer() }
        return try? frames.answer(to: R.self)
    }
}
