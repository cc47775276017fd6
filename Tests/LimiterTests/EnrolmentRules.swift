import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Wire

@Suite struct EnrolmentRules {
    @Test func anOwnerWhoIsNotKnownHasNothing() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let reply = try rig.turn { try $0.drawChallenge(of: owner) }
            #expect(reply.enrolment == nil && reply.confirmKey == nil)
            #expect(reply.challenge.count == 16)
            #expect(
                try rig.standing(owner)
                    == Standing(enrolment: nil, failed: 0, remainingMilliseconds: 0))
            #expect(throws: LimiterFault.unknownOwner) {
                try rig.begin(owner, drawnID(rig))
            }
            #expect(throws: LimiterFault.unknownOwner) {
                try rig.turn { try $0.repair(owner, seen: 0) }
            }
            #expect(try rig.service.owners() == [])
        }
    }

    @Test func everyTableWithAnOwnerIsWiped() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            #expect(try tablesLeft(by: LimiterService.ownerTables, in: rig.database) == [])
            let all = ["attempts", "ledgers", "owners"]
            #expect(try tablesLeft(by: [], in: rig.database) == all)
        }
    }

    @Test func theSameKeyGetsTheSameEnrolmentAndSecret() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let first = try rig.enrol(owner, key)
            let secret = try rig.deviceSecret(of: owner)
            _ = try rig.charge(owner, first)
            #expect(try rig.enrol(owner, key) == first)
            #expect(try rig.deviceSecret(of: owner) == secret)
            #expect(try rig.standing(owner).failed == 1)
            #expect(secret?.count == 32)
            #expect(try rig.service.owners() == [owner])
            #expect(try rig.service.ownerCount() == 1)
        }
    }

    @Test func anotherKeyIsRefusedForAsLongAsTheOwnerIsKnown() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            let other = try AccessKey(from: rig.random)
            #expect(throws: LimiterFault.otherKey) { try rig.enrol(owner, other) }
            _ = try rig.turn { try $0.forget(Forget(enrolment: enrolment), of: owner) }
            #expect(try rig.enrol(owner, other) != enrolment)
        }
    }

    @Test func ownersShareNoSecret() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let key = try AccessKey(from: rig.random)
            let (ann, bob) = (try Owner(named: "ann"), try Owner(named: "bob"))
            let first = try rig.enrol(ann, key)
            #expect(try rig.enrol(bob, key) != first)
            #expect(try rig.deviceSecret(of: ann) != rig.deviceSecret(of: bob))
            #expect(throws: LimiterFault.otherEnrolment) { try rig.begin(bob, first) }
        }
    }

    @Test func aChallengeServesOnceItsOwnerForSixtySeconds() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let (ann, bob) = (try Owner(named: "ann"), try Owner(named: "bob"))
            let key = try AccessKey(from: rig.random)
            @ServiceLoop func enrol(_ challenge: [UInt8]) throws {
                let signature = key.sign(.enrol, ann, challenge)
                _ = try rig.turn {
                    try $0.enrol(
                        Enrol(
                            challenge: challenge, confirmKey: key.publicKey, signature: signature),
                        of: ann)
                }
            }
            let once = try rig.challenge(ann)
            try enrol(once)
            #expect(throws: LimiterFault.badChallenge) { try enrol(once) }
            let foreign = try rig.challenge(bob)
            #expect(throws: LimiterFault.badChallenge) { try enrol(foreign) }
            #expect(throws: LimiterFault.badChallenge) { try enrol(rig.random.bytes(16)) }
            let inTime = try rig.challenge(ann)
            rig.clock.advance(seconds: 60)
            try enrol(inTime)
            let late = try rig.challenge(ann)
            rig.clock.advance(milliseconds: 60_001)
            #expect(throws: LimiterFault.badChallenge) { try enrol(late) }
            let lost = try rig.challenge(ann)
            try rig.restart()
            #expect(throws: LimiterFault.badChallenge) { try enrol(lost) }
            let rebooted = try rig.challenge(ann)
            rig.clock.reboot(nanoseconds: 101_000_000_000)
            #expect(throws: LimiterFault.badChallenge) { try enrol(rebooted) }
        }
    }

    @Test func theSixtyFifthOpenChallengeDropsTheOldest() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(owner, key)
            let drawn = try (0..<65).map { _ in try rig.challenge(owner) }
            @ServiceLoop func prove(_ challenge: [UInt8]) throws {
                _ = try rig.turn {
                    try $0.prove(
                        Prove(
                            enrolment: enrolment, challenge: challenge,
                            signature: key.sign(.proveRemoval, owner, challenge)), of: owner,
                        code: nil)
                }
            }
            #expect(throws: LimiterFault.badChallenge) { try prove(drawn[0]) }
            for challenge in drawn.dropFirst() { try prove(challenge) }
        }
    }

    @Test func challengesOfManyOwnersEndInBusyAndNotInGrowth() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            for number in 0..<4_096 {
                _ = try rig.service.drawChallenge(of: Owner(named: "owner-\(number)"))
            }
            let one = try Owner(named: "one-more")
            #expect(throws: BusFault.busy) { try rig.service.drawChallenge(of: one) }
            rig.clock.advance(seconds: 61)
            _ = try rig.service.drawChallenge(of: one)
            #expect(rig.service.gauges().first?.value == 1)
        }
    }

    @Test func anEnrolmentNeedsTheSignatureOfItsKey() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let other = try AccessKey(from: rig.random)
            for (signer, statement) in [(other, SignedStatement.enrol), (key, .proveRemoval)] {
                let challenge = try rig.challenge(owner)
                #expect(throws: LimiterFault.badSignature) {
                    try rig.turn {
                        try $0.enrol(
                            Enrol(
                                challenge: challenge, confirmKey: key.publicKey,
                                signature: signer.sign(statement, owner, challenge)), of: owner)
                    }
                }
            }
            #expect(try rig.service.owners() == [])
        }
    }

    @Test func forgettingLeavesNothingAndVoidsChallenges() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let (ann, bob) = (try Owner(named: "ann"), try Owner(named: "bob"))
            let key = try AccessKey(from: rig.random)
            let enrolment = try rig.enrol(ann, key)
            let others = try rig.enrol(bob, key)
            let (attempt, _) = try rig.charge(ann, enrolment)
            _ = try rig.charge(bob, others)
            let challenge = try rig.challenge(ann)
            let erased = try rig.turn { try $0.forget(Forget(enrolment: enrolment), of: ann) }
            #expect(erased == Empty())
            #expect(try rig.service.owners() == [bob])
            #expect(throws: LimiterFault.unknownOwner) { try rig.confirm(ann, attempt, key) }
            #expect(throws: LimiterFault.badChallenge) {
                try rig.turn {
                    try $0.enrol(
                        Enrol(
                            challenge: challenge, confirmKey: key.publicKey,
                            signature: key.sign(.enrol, ann, challenge)), of: ann)
                }
            }
            for table in ["owners", "ledgers", "attempts", "nonces"] {
                #expect(try rows(of: table, in: rig) == 1, "\(table)")
            }
            #expect(!rig.database.erasureOwed)
        }
    }

    @Test func aForgottenSecretIsInNoFileOfTheStore() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let enrolment = try rig.enrol(owner, AccessKey(from: rig.random))
            for _ in 1...6 { _ = try rig.charge(owner, enrolment) }
            let secret = try #require(try rig.deviceSecret(of: owner))
            #expect(try rig.filesHold(secret))
            _ = try rig.turn { try $0.forget(Forget(enrolment: enrolment), of: owner) }
            #expect(try !rig.filesHold(secret))
        }
    }

    @Test func aLateForgetDoesNothingToAnotherEnrolment() async throws {
        try await LoopHarness.run {
            let rig = try LimiterRig()
            let owner = try Owner(named: "ann")
            let key = try AccessKey(from: rig.random)
            let first = try rig.enrol(owner, key)
            _ = try rig.turn { try $0.forget(Forget(enrolment: first), of: owner) }
            let second = try rig.enrol(owner, key)
            _ = try rig.charge(owner, second)
            _ = try rig.turn { try $0.forget(Forget(enrolment: first), of: owner) }
            #expect(try rig.standing(owner).failed == 1)
            #expect(throws: LimiterFault.otherEnrolment) { try rig.begin(owner, first) }
            #expect(throws: LimiterFault.otherEnrolment) {
                try rig.prove(owner, first, key, code: "1234")
            }
            #expect(try rig.standing(owner).failed == 1)
        }
    }
}

/// An id that nobody knows.
@ServiceLoop
func drawnID<Named>(_ rig: LimiterRig) throws -> Identifier<Named> {
    guard let id = Identifier<Named>(rig.random.bytes(16)) else { throw Unexpected() }
    return id
}
