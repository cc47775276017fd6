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

@Suite struct AttemptRules {
    @Test func theAnswerIsTheMACOfTheCodeUnderTheDeviceSecret() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            let known = (0..<32).map { UInt8($0) }
            try rig.database.write {
                try rig.database.run(
                    "UPDATE owners SET device_secret = ?1", .blob(known))
            }
            let answer = try rig.begin(owner, enrolment, code: "1234")
            #expect(
                answer.attachments.map { Hex.encode($0.plain) } == [
                    "96fe3229af23b567a8cecbae499f177a5a0958b5fd7aad1588385eb1a4560210"
                ])
            #expect(rig.metrics.value(of: "evaluations") == 1)
        }
    }

    @Test func theSeventhIsNotTriedAndGetsNoAnswer() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            for number in 1...6 as ClosedRange<UInt64> {
                #expect(try rig.charge(owner, enrolment).1 == number)
            }
            rig.clock.advance(milliseconds: 500)
            let answer = try rig.begin(owner, enrolment)
            #expect(answer.reply == .coolingDown(remainingMilliseconds: 59_500, failed: 6))
            #expect(answer.attachments.isEmpty)
            #expect(
                try rig.standing(owner)
                    == Standing(enrolment: enrolment, failed: 6, remainingMilliseconds: 59_500))
            rig.clock.advance(milliseconds: 59_500)
            #expect(try rig.charge(owner, enrolment).1 == 7)
            #expect(rig.metrics.value(of: "evaluations") == 7)
        }
    }

    @Test func anotherEnrolmentIsRefusedUncharged() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            let other: EnrolmentID = try drawnID(rig)
            #expect(throws: LimiterFault.otherEnrolment) { try rig.begin(owner, other) }
            #expect(throws: LimiterFault.otherEnrolment) {
                try rig.begin(owner, other, lastCharge: 99)
            }
            #expect(try rig.charge(owner, enrolment).1 == 1)
        }
    }

    @Test func aRepeatedNonceIsNeitherChargedNorEvaluatedEvenAfterARestart() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            let nonce = rig.random.bytes(16)
            _ = try rig.begin(owner, enrolment, nonce: nonce)
            #expect(throws: LimiterFault.nonceSeen) {
                try rig.begin(owner, enrolment, nonce: nonce)
            }
            try rig.restart()
            #expect(throws: LimiterFault.nonceSeen) {
                try rig.begin(owner, enrolment, nonce: nonce)
            }
            #expect(try rig.standing(owner).failed == 1)
            #expect(rig.metrics.value(of: "evaluations") == 1)
        }
    }

    @Test func aStoreThatIsBehindSaysSoDurablyAndWaits() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            #expect(throws: LimiterFault.rolledBack) {
                try rig.begin(owner, enrolment, lastCharge: 41)
            }
            try rig.restart()
            #expect(
                try rig.standing(owner)
                    == Standing(enrolment: enrolment, failed: 6, remainingMilliseconds: 60_000))
            rig.clock.advance(seconds: 60)
            let answer = try rig.begin(owner, enrolment, lastCharge: 41)
            guard case .charged(_, let charge) = answer.reply else { throw Unexpected() }
            #expect(charge == 42)
            #expect(rig.metrics.value(of: "rollbacks") == 1)
        }
    }

    @Test func whatWasCommittedStandsAfterReopening() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            for _ in 1...6 { _ = try rig.charge(owner, enrolment) }
            rig.clock.advance(seconds: 20)
            try rig.restart()
            #expect(
                try rig.standing(owner)
                    == Standing(enrolment: enrolment, failed: 6, remainingMilliseconds: 40_000))
        }
    }

    @Test func aRebootIsStoredWhenItIsSeen() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            for _ in 1...6 { _ = try rig.charge(owner, enrolment) }
            rig.clock.reboot(nanoseconds: 3_000_000_000)
            #expect(try rig.standing(owner).remainingMilliseconds == 60_000)
            let record = try AttemptsRecord(
                decoding: rig.record(of: owner) ?? [], at: rig.clock.now)
            #expect(
                record
                    == AttemptsRecord(count: 6, boot: rig.clock.now.bootID, deadline: 63))
            rig.clock.advance(seconds: 10)
            #expect(try rig.standing(owner).remainingMilliseconds == 50_000)
        }
    }

    @Test func theLastNumberIsReached() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            #expect(throws: LimiterFault.rolledBack) {
                try rig.begin(owner, enrolment, lastCharge: Begin.chargeLimit)
            }
            _ = try rig.prove(owner, enrolment, key, code: nil)
            #expect(throws: LimiterFault.numbersUsedUp) { try rig.begin(owner, enrolment) }
            #expect(try rig.standing(owner).failed == 0)
        }
    }

    @Test(arguments: ["", "{}", #"{"count":2,"boot":"x","deadline":-1}"#])
    func aDamagedRecordRefusesAllAndIsNotOverwritten(_ text: String) async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            let (attempt, _) = try rig.charge(owner, enrolment)
            try rig.setRecord(Array(text.utf8), of: owner)
            #expect(throws: LimiterFault.damaged) { try rig.begin(owner, enrolment) }
            #expect(throws: LimiterFault.damaged) {
                try rig.begin(owner, enrolment, lastCharge: 9)
            }
            #expect(throws: LimiterFault.damaged) { try rig.confirm(owner, attempt, key) }
            #expect(throws: LimiterFault.damaged) {
                try rig.prove(owner, enrolment, key, code: "1")
            }
            #expect(throws: LimiterFault.damaged) { try rig.standing(owner) }
            #expect(try rig.record(of: owner) == Array(text.utf8))
            #expect(rig.metrics.value(of: "evaluations") == 1)
            let repaired = try rig.turn { try $0.repair(owner, seen: 0) }
            #expect(
                repaired
                    == RepairAttempts.Reply(
                        enrolment: enrolment, failed: 6, remainingMilliseconds: 60_000,
                        lastCharge: 1))
            #expect(throws: LimiterFault.nothingToRepair) {
                try rig.turn { try $0.repair(owner, seen: 0) }
            }
            #expect(try rig.confirm(owner, attempt, key) == 5)
        }
    }

    /// The store refuses such a row; a hand that edits the file does not.
    @Test func aDeviceSecretOfAnotherLengthIsDamageAndChargesNothing() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            try rig.cutDeviceSecret(of: owner)
            #expect(throws: StorageError.damaged) { try rig.begin(owner, enrolment) }
            #expect(throws: StorageError.damaged) {
                try rig.prove(owner, enrolment, key, code: "1234")
            }
            #expect(try rig.enrol(owner, key) == enrolment)
            #expect(try rig.deviceSecret(of: owner)?.count == 31)
            #expect(try rig.standing(owner).failed == 0)
            #expect(rig.metrics.value(of: "evaluations") == 0)
        }
    }

    @Test func aRepairLowersNothing() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            _ = try rig.enrol(owner, AccessKey(from: rig.random))
            try rig.setRecord(Array(#"{"count":70,"boot":"x","deadline":-1}"#.utf8), of: owner)
            #expect(try rig.turn { try $0.repair(owner, seen: 0) }.failed == 70)
        }
    }

    @Test func aMissingRowOfAKnownOwnerIsDamageAndMended() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            let (attempt, _) = try rig.charge(owner, enrolment)
            _ = try rig.charge(owner, enrolment)
            try rig.removeLedger(of: owner)
            #expect(throws: LimiterFault.damaged) { try rig.begin(owner, enrolment) }
            #expect(throws: LimiterFault.damaged) { try rig.standing(owner) }
            #expect(throws: LimiterFault.damaged) {
                try rig.prove(owner, enrolment, key, code: nil)
            }
            let repaired = try rig.turn { try $0.repair(owner, seen: 1) }
            #expect(repaired.failed == 6 && repaired.remainingMilliseconds == 60_000)
            #expect(repaired.lastCharge == 2)
            #expect(throws: LimiterFault.noSuchAttempt) { try rig.confirm(owner, attempt, key) }
            try rig.removeLedger(of: owner)
            #expect(try rig.turn { try $0.repair(owner, seen: 40) }.lastCharge == 40)
        }
    }

    /// Such numbers are taken from an authority whose row was edited, and charged up to their end.
    @Test func numbersAtTheirEndAreMendedOnlyByARepair() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            _ = try rig.charge(owner, enrolment)
            #expect(throws: LimiterFault.rolledBack) {
                try rig.begin(owner, enrolment, lastCharge: Begin.chargeLimit)
            }
            rig.clock.advance(seconds: 60)
            #expect(throws: LimiterFault.numbersUsedUp) {
                try rig.begin(owner, enrolment, lastCharge: 1)
            }
            let repaired = try rig.turn { try $0.repair(owner, seen: 1) }
            #expect(repaired.failed == 6 && repaired.remainingMilliseconds == 60_000)
            #expect(repaired.lastCharge == 1)
            rig.clock.advance(seconds: 60)
            #expect(try rig.charge(owner, enrolment).1 == 2)
            #expect(try rig.standing(owner).failed == 7)
        }
    }

    /// An authority whose own number is lost gets another, at the price of six attempts.
    @Test func anAuthorityWithoutANumberIsNumberedAnewAtThePriceOfAWait() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            for _ in 1...2 { _ = try rig.charge(owner, enrolment) }
            let repaired = try rig.turn { try $0.repair(owner, seen: nil) }
            #expect(repaired.failed == 6 && repaired.remainingMilliseconds == 60_000)
            #expect(repaired.lastCharge == 2)
            rig.clock.advance(seconds: 60)
            for _ in 1...3 {
                _ = try rig.charge(owner, enrolment)
                rig.clock.advance(seconds: 60)
            }
            #expect(try rig.turn { try $0.repair(owner, seen: nil) }.failed == 9)
        }
    }

    @Test func oldAttemptsAreSwept() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            let (first, _) = try rig.charge(owner, enrolment)
            rig.clock.advance(seconds: 601)
            _ = try rig.charge(owner, enrolment)
            #expect(try rows(of: "attempts", in: rig) == 1)
            #expect(throws: LimiterFault.noSuchAttempt) { try rig.confirm(owner, first, key) }
            rig.clock.reboot()
            _ = try rig.charge(owner, enrolment)
            #expect(try rows(of: "attempts", in: rig) == 1)
            #expect(try rows(of: "nonces", in: rig) == 3)
        }
    }
}
