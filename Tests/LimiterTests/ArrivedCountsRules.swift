import LimiterCore
import LimiterMessages
import Loop
import Serving
import Storage
import TestKit
import Testing
import Wire

/// A store that comes from elsewhere gives nobody an evaluation more.
@Suite struct ArrivedCountsRules {
    /// A limiter that knows one owner.
    @ServiceLoop private struct Scene {
        let rig: LimiterRig
        let owner: Owner
        let key: AccessKey
        let enrolment: EnrolmentID

        init() throws {
            rig = try LimiterRig()
            owner = try Owner(named: "local")
            key = try AccessKey(from: rig.random)
            enrolment = try rig.enrol(owner, key)
        }
    }

    @Test func aFreshArrivalWaitsAsAfterSixTries() async throws {
        try await LoopHarness.run {
            let scene = try Scene()
            let rig = scene.rig
            let owner = scene.owner
            let key = scene.key
            let enrolment = scene.enrolment
            let store = try rig.copiedStore("arrived")
            try LimiterService.raiseCounts(in: store, over: nil, at: rig.clock.now)
            try rig.move(to: store, named: "arrived")
            let standing = try rig.standing(owner)
            #expect(standing.failed == 6)
            #expect(standing.remainingMilliseconds == 60_000)
            guard case .coolingDown = try rig.begin(owner, enrolment).reply else {
                Issue.record("an attempt was taken")
                return
            }
            // One a minute from then on, and the right code drops the count.
            rig.clock.advance(seconds: 60)
            let (attempt, charge) = try rig.charge(owner, enrolment)
            #expect(charge == 1)
            #expect(try rig.standing(owner).failed == 7)
            #expect(try rig.confirm(owner, attempt, key) == 6)
            #expect(try rig.standing(owner).failed == 0)
        }
    }

    @Test func theHigherCountAndNumberStay() async throws {
        try await LoopHarness.run {
            let scene = try Scene()
            let rig = scene.rig
            let owner = scene.owner
            let enrolment = scene.enrolment
            for _ in 0..<3 { _ = try rig.charge(owner, enrolment) }
            let store = try rig.copiedStore("arrived")
            for _ in 0..<6 {
                rig.clock.advance(seconds: 61)
                _ = try rig.charge(owner, enrolment)
            }
            try LimiterService.raiseCounts(in: store, over: rig.database, at: rig.clock.now)
            try rig.move(to: store, named: "arrived")
            #expect(try rig.standing(owner).failed == 9)
            rig.clock.advance(seconds: 61)
            #expect(try rig.charge(owner, enrolment).1 == 10)
        }
    }

    @Test func anExportsHigherCountIsNotLoweredByTheHome() async throws {
        try await LoopHarness.run {
            let scene = try Scene()
            let rig = scene.rig
            let owner = scene.owner
            let key = scene.key
            let enrolment = scene.enrolment
            for _ in 0..<8 {
                rig.clock.advance(seconds: 61)
                _ = try rig.charge(owner, enrolment)
            }
            let store = try rig.copiedStore("arrived")
            _ = try rig.prove(owner, enrolment, key, code: "4821")
            #expect(try rig.standing(owner).failed == 0)
            try LimiterService.raiseCounts(in: store, over: rig.database, at: rig.clock.now)
            try rig.move(to: store, named: "arrived")
            #expect(try rig.standing(owner).failed == 8)
        }
    }

    @Test func anOpenAttemptIsOver() async throws {
        try await LoopHarness.run {
            let scene = try Scene()
            let rig = scene.rig
            let owner = scene.owner
            let key = scene.key
            let enrolment = scene.enrolment
            let (attempt, _) = try rig.charge(owner, enrolment)
            let store = try rig.copiedStore("arrived")
            try LimiterService.raiseCounts(in: store, over: rig.database, at: rig.clock.now)
            try rig.move(to: store, named: "arrived")
            #expect(throws: LimiterFault.noSuchAttempt) { try rig.confirm(owner, attempt, key) }
            #expect(try rig.standing(owner).failed == 6)
        }
    }

    /// Another life of the owner has numbers of its own.
    @Test func anotherEnrolmentIsNotCompared() async throws {
        try await LoopHarness.run {
            let scene = try Scene()
            let rig = scene.rig
            let owner = scene.owner
            let key = scene.key
            let enrolment = scene.enrolment
            let store = try rig.copiedStore("arrived")
            try rig.turn { _ = try $0.forget(Forget(enrolment: enrolment), of: owner) }
            let later = try rig.enrol(owner, key)
            #expect(later != enrolment)
            for _ in 0..<9 {
                rig.clock.advance(seconds: 61)
                _ = try rig.charge(owner, later)
            }
            try LimiterService.raiseCounts(in: store, over: rig.database, at: rig.clock.now)
            try rig.move(to: store, named: "arrived")
            #expect(try rig.standing(owner).failed == 6)
            rig.clock.advance(seconds: 61)
            #expect(try rig.charge(owner, enrolment).1 == 1)
        }
    }

    @Test func aLedgerThatIsLostStaysDamaged() async throws {
        try await LoopHarness.run {
            let scene = try Scene()
            let rig = scene.rig
            let owner = scene.owner
            let store = try rig.copiedStore("arrived")
            try store.write {
                try store.run("DELETE FROM ledgers")
            }
            try store.commitBatch()
            try LimiterService.raiseCounts(in: store, over: nil, at: rig.clock.now)
            try rig.move(to: store, named: "arrived")
            #expect(throws: LimiterFault.damaged) { try rig.standing(owner) }
        }
    }
}
