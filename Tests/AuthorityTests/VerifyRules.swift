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

/// A passcode is tried at the price of one attempt, and what is no attempt costs none.
@Suite(.timeLimit(.minutes(1)))
struct VerifyRules {
    @Test func theRightPasscodeGivesASessionAndDropsTheCharges() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            for tries in 1...3 as ClosedRange<UInt64> {
                let wrong = try await bench.unlock("9999")
                #expect(wrong == .wrong(failed: tries, remainingMilliseconds: 0))
            }
            let answer = try await bench.ask(
                Verify(scope: .resource(.main), audience: [.walletVault]), secret: "１２３４")
            #expect(
                answer.reply
                    == .verified(
                        remainingMilliseconds: 300_000, failedBefore: 3,
                        tries: .from(.app, .app, .app)))
            #expect(answer.attachments.count == 1)
            #expect(try bench.failed() == 0)
            #expect(try await bench.ask(AskStatus()).reply.unlocked)
        }
    }

    @Test func theSixthWrongPasscodeSetsAWaitInWhichNothingIsTried() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            for _ in 1...5 { _ = try await bench.unlock("9999") }
            #expect(
                try await bench.unlock("9999")
                    == .wrong(failed: 6, remainingMilliseconds: 60_000))
            let runs = bench.kdf.runs
            #expect(
                try await bench.unlock("1234")
                    == .coolingDown(remainingMilliseconds: 60_000, failed: 6))
            #expect(bench.kdf.runs == runs)
            bench.clock.advance(seconds: 60)
            #expect(
                try await bench.unlock("1234")
                    == .verified(
                        remainingMilliseconds: 300_000, failedBefore: 6,
                        tries: .from(.app, .app, .app, .app, .app, .app)))
        }
    }

    @Test func sevenWrongOnesAtOnceGetSixEvaluations() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let before = bench.limiter.metrics.value(of: "evaluations")
            let tries = (1...7).map { _ in
                bench.post(Verify(scope: .appUnlock, audience: []), secret: "9999")
            }
            var wrong = 0
            var cooling = 0
            for pending in tries {
                switch try await bench.answer(pending).reply {
                case .wrong: wrong += 1
                case .coolingDown: cooling += 1
                case .verified: Issue.record("a wrong passcode was taken")
                }
            }
            #expect(wrong == 6 && cooling == 1)
            #expect(bench.limiter.metrics.value(of: "evaluations") - before == 6)
            #expect(try bench.failed() == 6)
        }
    }

    /// Each is refused before the limiter is asked for anything that counts.
    @Test func whatIsNoAttemptIsNotCharged() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let lock = Verify(scope: .appUnlock, audience: [])
            #expect(try await bench.refusal(lock, secret: "1234") == "credential.no_passcode")
            try await bench.set()
            func refused(_ request: Verify, as peer: Peer = .app, _ secret: String = "1234")
                async throws -> String?
            {
                try await bench.refusal(request, as: peer, secret: secret)
            }
            let other = Verify(scope: .appUnlock, audience: [], credential: "other")
            #expect(try await refused(other) == "credential.stale")
            #expect(try await refused(lock, "") == "credential.invalid_code")
            let wide = Verify(scope: .resource(.main), audience: [.backupShares, .migration])
            #expect(try await refused(wide) == "bus.malformed")
            let more = Verify(scope: .settings, audience: [])
            #expect(try await refused(more, as: .extension) == "bus.forbidden")
            #expect(try await refused(lock, as: .operator) == "bus.forbidden")
            #expect(try await refused(lock, as: .vault) == "bus.forbidden")
            let recover = Verify(scope: .recover, audience: [])
            #expect(try await refused(recover) == "credential.not_authorised")
            try bench.store { $0.record.passcode?.iterations = 599_999 }
            #expect(try await refused(lock) == "credential.damaged")
            try bench.store { $0.record.passcode?.iterations = 3_000_001 }
            #expect(try await refused(lock) == "credential.damaged")
            try bench.store {
                $0.record.passcode?.iterations = 600_000
                $0.record.passcode?.wrappedKey.removeLast()
            }
            #expect(try await refused(lock) == "credential.damaged")
            #expect(try bench.failed() == 0)
            #expect(!bench.way.asked.contains(Begin.method))
            #expect(bench.service.metrics.value(of: "kdf_runs") == 1)
        }
    }

    /// What has the shape of a wrapper is tried, and nothing tells its damage from a wrong code.
    @Test func aDamagedWrapperIsAWrongPasscodeAndCounts() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try bench.store { $0.record.passcode?.wrappedKey[30] ^= 1 }
            #expect(try await bench.unlock("1234") == .wrong(failed: 1, remainingMilliseconds: 0))
            #expect(try bench.failed() == 1)
        }
    }

    @Test func theNamedCredentialIsTried() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let id = try await bench.set().credential
            let request = Verify(scope: .appUnlock, audience: [], credential: id)
            #expect(try await bench.ask(request, secret: "1234").reply.isVerified)
        }
    }

    @Test func anExtensionUnlocksTheApp() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            #expect(try await bench.unlock("1234", as: .extension).isVerified)
        }
    }

    @Test func aCallerWhoDoesNotWaitAnyMoreIsNotCharged() async throws {
        try await LoopHarness.run {
            var settings = AuthoritySettings()
            settings.kdfThreads = 1
            let bench = try Bench(settings: settings)
            try await bench.set()
            bench.timePasses = false
            bench.kdf.isHeld = true
            let first = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            let second = bench.post(
                Verify(scope: .appUnlock, audience: []), secret: "9999",
                timeoutMilliseconds: 1_000)
            try await bench.settle()
            #expect(bench.kdf.heldCount == 1)
            bench.clock.advance(milliseconds: 1_000)
            bench.kdf.letGo()
            #expect(try await bench.answer(first).reply.isVerified)
            #expect(try await bench.refusal(of: second) == "bus.overdue")
            #expect(bench.way.asked.count { $0 == Begin.method } == 1)
        }
    }

    @Test func aChargedAttemptRunsToItsEndThoughItsCallerIsGone() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999")
            bench.timePasses = false
            bench.kdf.isHeld = true
            let late = bench.post(
                Verify(scope: .appUnlock, audience: []), secret: "1234",
                timeoutMilliseconds: 1_000)
            try await bench.settle()
            bench.clock.advance(milliseconds: 1_000)
            bench.kdf.letGo()
            #expect(try await bench.refusal(of: late) == "bus.expired")
            #expect(try bench.failed() == 0)
            #expect(bench.service.registry.count == 0)
            #expect(!bench.service.registry.isGateOpen(of: .local))
        }
    }

    @Test func aFullQueueIsBusyBeforeAnythingIsCharged() async throws {
        try await LoopHarness.run {
            var settings = AuthoritySettings()
            settings.kdfThreads = 1
            settings.kdfQueue = 2
            let bench = try Bench(settings: settings)
            try await bench.set()
            bench.kdf.isHeld = true
            let kept = (1...3).map { _ in
                bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            }
            try await bench.settle()
            let refused = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            #expect(try await bench.refusal(of: refused) == "bus.busy")
            #expect(bench.way.asked.count { $0 == Begin.method } == 1)
            bench.kdf.letGo()
            for pending in kept { #expect(try await bench.answer(pending).reply.isVerified) }
        }
    }

    @Test func theNumberOfTheChargeIsDurableBeforeTheDerivation() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let before = try #require(try bench.stored()).charge
            bench.kdf.isHeld = true
            _ = bench.post(Verify(scope: .appUnlock, audience: []), secret: "9999")
            try await bench.runUntilWritten()
            #expect(bench.kdf.heldCount == 0)
            try bench.endTurns()
            await LoopHarness.settle()
            #expect(bench.kdf.heldCount == 1)
            try bench.restart()
            #expect(try #require(try bench.stored()).charge == before + 1)
        }
    }

    @Test func anAnswerWithAnOldNumberIsDropped() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.way.heldMethod = Begin.method
            let pending = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            #expect(bench.way.heldCount == 1)
            try bench.store { $0.charge = 1 }
            let runs = bench.kdf.runs
            bench.way.letGo()
            #expect(try await bench.refusal(of: pending) == "credential.overtaken")
            #expect(try bench.failed() == 1)
            #expect(bench.kdf.runs == runs)
        }
    }

    @Test func aLimiterThatWasRolledBackMakesTheCallerWait() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try bench.store { $0.charge = 40 }
            #expect(
                try await bench.unlock("1234")
                    == .coolingDown(remainingMilliseconds: 60_000, failed: 6))
            bench.clock.advance(seconds: 60)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func storesThatDoNotMatchAreSaidAndNeverTried() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let known = try #require(try bench.stored()?.enrolment)
            try bench.store { $0.enrolment = EnrolmentID([UInt8](repeating: 9, count: 16)) }
            let lock = Verify(scope: .appUnlock, audience: [])
            #expect(try await bench.refusal(lock, secret: "1234") == "credential.secret_missing")
            #expect(try await bench.refusal(AskStatus()) == "credential.secret_missing")
            try bench.store { $0.enrolment = nil }
            #expect(try await bench.refusal(lock, secret: "1234") == "credential.secret_missing")
            try bench.store { $0.enrolment = known }
            _ = try bench.limiter.service.forget(Forget(enrolment: known), of: .local)
            #expect(try await bench.refusal(lock, secret: "1234") == "credential.secret_missing")
            #expect(bench.service.metrics.value(of: "kdf_runs") == 1)
        }
    }
}
