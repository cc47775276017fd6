import AuthorityMessages
import LimiterCore
import LimiterMessages
import Loop
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// No session before the limiter acknowledged, none where record or lock moved meanwhile.
@Suite(.timeLimit(.minutes(1)))
struct ConfirmRules {
    @Test(arguments: LimiterWay.Mishap.allCases)
    func aConfirmThatIsLostIsSentAgain(_ mishap: LimiterWay.Mishap) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999")
            bench.way.mishaps = [(Confirm.method, mishap), (Confirm.method, mishap)]
            #expect(
                try await bench.unlock("1234")
                    == .verified(
                        remainingMilliseconds: 300_000, failedBefore: 1, tries: .from(.app)))
            #expect(bench.way.asked.count { $0 == Confirm.method } == 3)
            #expect(try bench.failed() == 0)
        }
    }

    @Test(arguments: LimiterWay.Mishap.allCases)
    func aConfirmThatNeverArrivesGivesNoSession(_ mishap: LimiterWay.Mishap) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.way.mishaps = (1...10).map { _ in (Confirm.method, mishap) }
            let lock = Verify(scope: .appUnlock, audience: [])
            #expect(
                try await bench.refusal(lock, secret: "1234") == "credential.limiter_silent")
            #expect(bench.service.registry.count == 0)
            #expect(!bench.service.registry.isGateOpen(of: .local))
            bench.way.mishaps = []
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func nobodyHasASessionWhileTheConfirmIsUnderWay() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.way.heldMethod = Confirm.method
            let pending = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            #expect(bench.way.heldCount == 1)
            #expect(bench.service.registry.count == 0)
            bench.way.letGo()
            #expect(try await bench.answer(pending).reply.isVerified)
            #expect(bench.service.registry.count == 1)
        }
    }

    @Test func aLockDuringTheDerivationLeavesNoSessionAndStillConfirms() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.kdf.isHeld = true
            let pending = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            _ = try await bench.ask(Lock())
            bench.kdf.letGo()
            #expect(try await bench.refusal(of: pending) == "credential.stale")
            #expect(try bench.failed() == 0)
            #expect(bench.service.registry.count == 0)
            #expect(!bench.service.registry.isGateOpen(of: .local))
        }
    }

    @Test func aLockDuringTheConfirmLeavesNoSession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.way.heldMethod = Confirm.method
            let pending = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            _ = try await bench.ask(Lock())
            bench.way.letGo()
            #expect(try await bench.refusal(of: pending) == "credential.stale")
            #expect(!bench.service.registry.isGateOpen(of: .local))
        }
    }

    @Test func aLockOfAnotherOwnerChangesNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.kdf.isHeld = true
            let pending = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            _ = try await bench.ask(Lock(), owner: .other)
            bench.kdf.letGo()
            #expect(try await bench.answer(pending).reply.isVerified)
        }
    }

    @Test func aLockWhileTheCheckWaitsForAThreadChargesNothing() async throws {
        try await LoopHarness.run {
            var settings = AuthoritySettings()
            settings.kdfThreads = 1
            let bench = try Bench(settings: settings)
            try await bench.set()
            try await bench.set(owner: .other)
            bench.kdf.isHeld = true
            let other = bench.post(
                Verify(scope: .appUnlock, audience: []), owner: .other, secret: "1234")
            let waiting = bench.post(Verify(scope: .appUnlock, audience: []), secret: "9999")
            try await bench.settle()
            _ = try await bench.ask(Lock())
            bench.kdf.letGo()
            #expect(try await bench.answer(other).reply.isVerified)
            #expect(try await bench.refusal(of: waiting) == "credential.stale")
            #expect(try bench.failed() == 0)
        }
    }

    @Test func aChangeDuringTheDerivationMakesTheResultStale() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            bench.kdf.isHeld = true
            let pending = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            // The second thread serves the change.
            let change = bench.post(
                SetPasscode(passcodeKind: .digits4), token: token, secret: "5678")
            try await bench.settle()
            #expect(bench.kdf.heldCount == 2)
            try bench.store { $0.record.revision += 1 }
            bench.kdf.letGo()
            #expect(try await bench.refusal(of: pending) == "credential.overtaken")
            #expect(try await bench.refusal(of: change) == "credential.stale")
            #expect(bench.service.registry.count(of: .local) == 1)
        }
    }

    @Test func aRecordThatGoesDuringTheConfirmGivesNoSession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.way.heldMethod = Confirm.method
            let pending = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            try bench.store { $0.record.revision += 1 }
            bench.way.letGo()
            #expect(try await bench.refusal(of: pending) == "credential.stale")
            #expect(bench.service.registry.count == 0)
        }
    }

    @Test(arguments: [Begin.method, AskStanding.method])
    func aLimiterThatIsNotThereIsSaid(_ method: String) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let lock = Verify(scope: .appUnlock, audience: [])
            bench.way.mishaps = [(method, .lostRequest)]
            if method == Begin.method {
                #expect(
                    try await bench.refusal(lock, secret: "1234")
                        == "credential.limiter_unreachable")
            } else {
                #expect(
                    try await bench.unlock("9999")
                        == .wrong(failed: 1, remainingMilliseconds: 0))
            }
        }
    }
}
