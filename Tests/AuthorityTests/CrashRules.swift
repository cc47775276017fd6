import AuthorityMessages
import LimiterCore
import LimiterMessages
import Loop
import Serving
import Storage
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// Wherever a set or a change breaks off, a passcode that works is left, or none.
@Suite(.timeLimit(.minutes(2)))
struct CrashRules {
    /// More steps than a set or a change has.
    private static let steps = 0..<40

    @Test(arguments: steps)
    func aFirstSetThatBreaksOffIsEnteredAgain(_ step: Int) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let key = IdempotencyKey.numbered(500)
            _ = bench.post(SetPasscode(passcodeKind: .digits4), secret: "1234", key: key)
            for _ in 0..<step { try await bench.step() }
            try bench.restart()
            let status = try await bench.ask(AskStatus()).reply
            let told = try await bench.ask(AskOutcome<Authority>(key: key)).reply
            if status.kind == nil {
                #expect(told.status == .rejected)
                #expect(
                    try bench.stored()?.record.unprotectedKey != nil || status.credential == nil)
                try await bench.set("5678")
                #expect(try await bench.unlock("5678").isVerified)
                #expect(try await bench.unlock("1234").isVerified == false)
            } else {
                #expect(told.status == .done)
                #expect(try await bench.unlock("1234").isVerified)
            }
        }
    }

    @Test(arguments: steps)
    func aChangeThatBreaksOffLeavesTheOneOrTheOther(_ step: Int) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            let key = IdempotencyKey.numbered(500)
            _ = bench.post(
                SetPasscode(passcodeKind: .digits4), token: token, secret: "5678", key: key)
            for _ in 0..<step { try await bench.step() }
            try bench.restart()
            let isDone =
                try await bench.ask(AskOutcome<Authority>(key: key)).reply.status == .done
            #expect(try await bench.unlock("5678").isVerified == isDone)
            #expect(try await bench.unlock("1234").isVerified == !isDone)
        }
    }

    /// Flag and open key change together: there is no moment in which the record is damaged.
    @Test(arguments: steps, [true, false])
    func aSettingThatBreaksOffLeavesTheOneOrTheOther(_ step: Int, _ wanted: Bool) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            if wanted { _ = try await bench.ask(SetProtection(protection: false), token: token) }
            let key = IdempotencyKey.numbered(500)
            _ = bench.post(SetProtection(protection: wanted), token: token, key: key)
            for _ in 0..<step { try await bench.step() }
            try bench.restart()
            let isDone =
                try await bench.ask(AskOutcome<Authority>(key: key)).reply.status == .done
            let record = try #require(try bench.stored()).record
            #expect(record.protection == (isDone == wanted))
            #expect((record.unprotectedKey == nil) == record.protection)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test(arguments: steps)
    func aCheckThatBreaksOffCostsAtMostItsCharge(_ step: Int) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            for _ in 0..<step { try await bench.step() }
            try bench.restart()
            #expect(bench.service.registry.count == 0)
            #expect(try bench.failed() <= 1)
            #expect(try await bench.unlock("1234").isVerified)
            #expect(try bench.failed() == 0)
        }
    }

    @Test(
        arguments: [DrawChallenge.method, Enrol.method, Prove.method],
        LimiterWay.Mishap.allCases)
    func aFirstSetThatMeetsASilentLimiterIsEnteredAgain(
        _ method: String, _ mishap: LimiterWay.Mishap
    ) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.way.mishaps = [(method, mishap)]
            #expect(
                try await bench.refusal(SetPasscode(passcodeKind: .digits4), secret: "1234")
                    == "credential.limiter_unreachable")
            #expect(try await bench.ask(AskStatus()).reply.kind == nil)
            try await bench.set("5678")
            #expect(try await bench.unlock("5678").isVerified)
        }
    }

    @Test func theStepsAreMoreThanAWholeSetTakes() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let pending = bench.post(SetPasscode(passcodeKind: .digits4), secret: "1234")
            for _ in Self.steps { try await bench.step() }
            #expect(bench.isAnswered(pending))
        }
    }

    @Test func theLimiterEnrolsNobodyBeforeTheRecordIsDurable() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            _ = bench.post(SetPasscode(passcodeKind: .digits4), secret: "1234")
            try await bench.runUntilWritten()
            #expect(bench.authority.group.store.hasOpenBatch)
            #expect(!bench.way.asked.contains(Enrol.method))
            try bench.endTurns()
            await LoopHarness.settle()
            #expect(bench.way.asked.contains(Enrol.method))
        }
    }

    @Test func aChangeWhoseCommitFailsIsNotSaidToBeDone() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            let resource = try await bench.resourceToken()
            // With a lease to wait for, the answer leaves in a later turn than the write.
            _ = try await bench.answer(bench.derive(resource))
            let change = bench.post(
                SetPasscode(passcodeKind: .digits4), token: token, secret: "5678")
            try await bench.runUntilWritten()
            #expect(bench.authority.group.store.hasOpenBatch)
            try bench.spoilCommit()
            #expect(try await bench.refusal(of: change) == "storage.failed")
            // The revocation stands.
            #expect(try await bench.refusal(of: bench.derive(resource)) == "session.ended")
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func aFailedWriteOfTheChargeTriesNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let runs = bench.kdf.runs
            bench.way.heldMethod = Begin.method
            let pending = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            bench.authority.group.store.close()
            bench.way.letGo()
            #expect(try await bench.refusal(of: pending) == "storage.failed")
            #expect(bench.kdf.runs == runs)
            #expect(bench.service.registry.count == 0)
        }
    }
}

extension Bench {
    /// Puts something into the authority's batch that its commit refuses.
    func spoilCommit() throws {
        let database = authority.group.store
        try authority.group.write {
            _ = try database.run("CREATE TABLE parents (id INTEGER PRIMARY KEY)")
            _ = try database.run(
                """
                CREATE TABLE children
                (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)
                """)
            _ = try database.run("INSERT INTO children (parent) VALUES (1)")
        }
    }
}
