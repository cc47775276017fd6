import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Wire

@Suite struct ConfirmRules {
    @Test func aRightCodeDropsTheChargesUpToItsOwn() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            let attempts = try (1...6).map { _ in try rig.charge(owner, enrolment).0 }
            #expect(try rig.confirm(owner, attempts[3], key) == 3)
            #expect(
                try rig.standing(owner)
                    == Standing(enrolment: enrolment, failed: 2, remainingMilliseconds: 0))
            #expect(try rig.confirm(owner, attempts[5], key) == 1)
            #expect(try rig.confirm(owner, attempts[4], key) == 0)
            #expect(try rig.standing(owner).failed == 0)
            #expect(try rig.charge(owner, enrolment).1 == 7)
        }
    }

    @Test func aRepeatIsAnsweredTheSameAndDropsNothingMore() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            _ = try rig.charge(owner, enrolment)
            let (attempt, _) = try rig.charge(owner, enrolment)
            #expect(try rig.confirm(owner, attempt, key) == 1)
            _ = try rig.charge(owner, enrolment)
            try rig.restart()
            rig.clock.advance(seconds: 90)
            #expect(try rig.confirm(owner, attempt, key) == 1)
            #expect(try rig.standing(owner).failed == 1)
        }
    }

    @Test func itIsTakenForSixtySecondsInACooldownAndAfterARestart() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            let attempts = try (1...6).map { _ in try rig.charge(owner, enrolment).0 }
            rig.clock.advance(seconds: 60)
            try rig.restart()
            #expect(try rig.confirm(owner, attempts[2], key) == 2)
            rig.clock.advance(milliseconds: 1)
            #expect(throws: LimiterFault.attemptOver) { try rig.confirm(owner, attempts[5], key) }
            #expect(try rig.standing(owner).failed == 3)
        }
    }

    @Test func anAttemptDiesAtAReboot() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            let (attempt, _) = try rig.charge(owner, enrolment)
            rig.clock.reboot(nanoseconds: 100_000_000_000)
            #expect(throws: LimiterFault.attemptOver) { try rig.confirm(owner, attempt, key) }
            #expect(try rig.standing(owner).failed == 1)
        }
    }

    @Test func onlyTheOwnersKeyOverThisAttemptConfirms() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let (ann, bob) = (try Owner(named: "ann"), try Owner(named: "bob"))
            let key = try AccessKey(from: rig.random)
            let other = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(ann, key)
            let (attempt, _) = try rig.charge(ann, enrolment)
            let (second, _) = try rig.charge(ann, enrolment)
            let wrong = [
                other.sign(.confirm, ann, attempt.bytes),
                key.sign(.confirm, bob, attempt.bytes),
                key.sign(.confirm, ann, second.bytes),
                key.sign(.provePasscode, ann, attempt.bytes),
                [UInt8](repeating: 0, count: 64),
            ]
            for signature in wrong {
                #expect(throws: LimiterFault.badSignature) {
                    try rig.turn {
                        try $0.confirm(Confirm(attempt: attempt, signature: signature), of: ann)
                    }
                }
            }
            _ = try rig.enrol(bob, key)
            #expect(throws: LimiterFault.noSuchAttempt) { try rig.confirm(bob, attempt, key) }
            let unknown: AttemptID = try drawnID(rig)
            #expect(throws: LimiterFault.noSuchAttempt) { try rig.confirm(ann, unknown, key) }
            #expect(try rig.standing(ann).failed == 2)
        }
    }
}

@Suite struct ProveRules {
    @Test func aNewCodeIsEvaluatedUnchargedAndAllChargesGo() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            let tried = try rig.begin(owner, enrolment, code: "9876")
            for _ in 1...5 { _ = try rig.charge(owner, enrolment) }
            let proven = try rig.prove(owner, enrolment, key, code: "9876")
            #expect(proven.attachments.map(\.plain) == tried.attachments.map(\.plain))
            #expect(proven.attachments.count == 1)
            #expect(
                try rig.standing(owner)
                    == Standing(enrolment: enrolment, failed: 0, remainingMilliseconds: 0))
            #expect(try rig.charge(owner, enrolment).1 == 7)
        }
    }

    @Test func withoutACodeNothingIsEvaluated() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            _ = try rig.charge(owner, enrolment)
            #expect(try rig.prove(owner, enrolment, key, code: nil).attachments.isEmpty)
            #expect(try rig.standing(owner).failed == 0)
            #expect(rig.metrics.value(of: "evaluations") == 1)
        }
    }

    @Test func theSignatureCoversThePurpose() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            _ = try rig.charge(owner, enrolment)
            let cases: [(SignedStatement, Bool)] = [
                (.proveRemoval, true), (.provePasscode, false), (.enrol, true), (.confirm, true),
            ]
            for (statement, hasCode) in cases {
                let challenge = try rig.challenge(owner)
                let request = Prove(
                    enrolment: enrolment, challenge: challenge,
                    signature: key.sign(statement, owner, challenge))
                #expect(throws: LimiterFault.badSignature) {
                    try rig.turn {
                        try $0.prove(request, of: owner, code: hasCode ? secret("1") : nil)
                    }
                }
                #expect(throws: LimiterFault.badChallenge) {
                    try rig.turn {
                        try $0.prove(request, of: owner, code: hasCode ? nil : secret("1"))
                    }
                }
            }
            #expect(try rig.standing(owner).failed == 1)
            #expect(rig.metrics.value(of: "evaluations") == 1)
        }
    }

    @Test func aChargeMadeBeforeCannotLowerWhatCameAfter() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            let (attempt, _) = try rig.charge(owner, enrolment)
            _ = try rig.prove(owner, enrolment, key, code: "1")
            _ = try rig.charge(owner, enrolment)
            #expect(try rig.confirm(owner, attempt, key) == 0)
            #expect(try rig.standing(owner).failed == 1)
        }
    }
}
