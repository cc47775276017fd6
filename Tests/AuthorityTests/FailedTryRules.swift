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

/// The next right passcode tells when and from which peers the wrong ones came.
@Suite(.timeLimit(.minutes(1)))
struct FailedTryRules {
    private static let lock = Verify(scope: .appUnlock, audience: [])

    @Test func triesAreToldOnceWithTheirPeers() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999")
            _ = try await bench.unlock("8888", as: .extension)
            _ = try await bench.unlock("8888", as: .otherApp, owner: .other, isRefused: true)
            #expect(
                try await bench.ask(AskStatus()).reply.tries == .from(.app, .extension))
            #expect(
                try await bench.unlock("1234")
                    == .verified(
                        remainingMilliseconds: 300_000, failedBefore: 2,
                        tries: .from(.app, .extension)))
            #expect(try await bench.ask(AskStatus()).reply.tries.isEmpty)
            #expect(
                try await bench.unlock("1234")
                    == .verified(remainingMilliseconds: 300_000, failedBefore: 0))
        }
    }

    @Test func triesOutliveARestart() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999", as: .otherApp)
            try bench.restart()
            #expect(try await bench.ask(AskStatus()).reply.tries == .from(.otherApp))
        }
    }

    @Test func aCheckThatBrokeOffStandsAsOneThatFailed() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.kdf.isHeld = true
            _ = bench.post(Self.lock, secret: "1234")
            try await bench.settle()
            #expect(bench.kdf.heldCount == 1)
            try bench.restart()
            #expect(try await bench.ask(AskStatus()).reply.tries == .from(.app))
        }
    }

    /// Nobody is told of a passcode that is just being checked, right or wrong.
    @Test(arguments: ["1234", "9999"])
    func aCheckUnderWayIsNotToldAsFailed(_ earlier: String) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999", as: .extension)
            bench.kdf.isHeld = true
            let first = bench.post(Self.lock, as: .otherApp, secret: earlier)
            try await bench.settle()
            let second = bench.post(Self.lock, secret: "1234")
            try await bench.settle()
            #expect(try await bench.ask(AskStatus()).reply.tries == .from(.extension))
            bench.kdf.letLastGo()
            #expect(
                try await bench.answer(second).reply
                    == .verified(
                        remainingMilliseconds: 300_000, failedBefore: 1,
                        tries: .from(.extension)))
            bench.kdf.letGo()
            _ = try await bench.answer(first)
            let late: [FailedTry] = earlier == "1234" ? [] : .from(.otherApp)
            #expect(try await bench.ask(AskStatus()).reply.tries == late)
            #expect(
                try await bench.unlock("1234")
                    == .verified(
                        remainingMilliseconds: 300_000, failedBefore: UInt64(late.count),
                        tries: late))
        }
    }

    @Test func onlyTheNewestAreKept() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            for _ in 1...6 { _ = try await bench.unlock("9999") }
            for _ in 1...20 {
                bench.clock.advance(seconds: 60)
                _ = try await bench.unlock("9999", as: .extension)
            }
            bench.clock.advance(seconds: 60)
            let reply = try await bench.unlock("1234")
            guard case .verified(_, let failed, let tries) = reply else {
                Issue.record("\(reply)")
                return
            }
            #expect(failed == 26)
            #expect(tries == Array(repeating: Peer.extension, count: 16).map(\.failedTry))
            #expect(try bench.tryCount() == 0)
        }
    }

    /// A right passcode whose session was not made tells nobody, so the tries stay; it is none.
    @Test func triesStayWhereNoSessionWasMade() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999", as: .otherApp)
            bench.way.heldMethod = Confirm.method
            let pending = bench.post(Self.lock, secret: "1234")
            try await bench.settle()
            _ = try await bench.ask(Lock())
            bench.way.letGo()
            #expect(try await bench.refusal(of: pending) == "credential.stale")
            #expect(
                try await bench.unlock("1234")
                    == .verified(
                        remainingMilliseconds: 300_000, failedBefore: 1, tries: .from(.otherApp)))
        }
    }

    /// What was lost on the way back may be counted, and is told so.
    @Test func aLimiterThatFallsSilentIsToldAsUnknownAndKept() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.way.mishaps = [(Begin.method, .lostReply)]
            let lost = bench.post(Self.lock, secret: "1234")
            do {
                _ = try await bench.answer(lost)
                Issue.record("no answer of the limiter gave one")
            } catch let refusal as Refusal {
                #expect(refusal.code == "credential.limiter_silent")
                #expect(refusal.outcome == .unknown)
            }
            #expect(try bench.failed() == 1)
            #expect(try await bench.ask(AskStatus()).reply.tries == .from(.app))
        }
    }

    @Test func aLimiterThatWasNotReachedCountsNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.way.mishaps = [(Begin.method, .lostRequest)]
            #expect(
                try await bench.refusal(Self.lock, secret: "1234")
                    == "credential.limiter_unreachable")
            #expect(try bench.failed() == 0)
            #expect(try await bench.ask(AskStatus()).reply.tries.isEmpty)
        }
    }
}

/// Attempts that cannot be relied on fail closed and are mended at the price of six.
@Suite(.timeLimit(.minutes(1)))
struct DamagedAttemptRules {
    private static let lock = Verify(scope: .appUnlock, audience: [])

    @Test func aMissingRowOfTheLimiterIsSaidAndMended() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999")
            try bench.removeLedgers()
            #expect(
                try await bench.refusal(Self.lock, secret: "1234")
                    == "credential.attempts_damaged")
            #expect(try await bench.refusal(AskStatus()) == "credential.attempts_damaged")
            #expect(
                try await bench.ask(RepairOwnerAttempts()).reply
                    == .init(failed: 6, remainingMilliseconds: 60_000))
            #expect(
                try await bench.unlock("1234")
                    == .coolingDown(remainingMilliseconds: 60_000, failed: 6))
            bench.clock.advance(seconds: 60)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test(arguments: [Int64(1) << 53, Int64.max, -1])
    func aNumberPastItsEndIsSaidAndMended(_ number: Int64) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999")
            try bench.setCharge(number)
            #expect(
                try await bench.refusal(Self.lock, secret: "1234")
                    == "credential.attempts_damaged")
            #expect(try await bench.refusal(AskStatus()) == "credential.attempts_damaged")
            #expect(bench.way.asked.count { $0 == Begin.method } == 1)
            #expect(
                try await bench.ask(RepairOwnerAttempts()).reply
                    == .init(failed: 6, remainingMilliseconds: 60_000))
            #expect(
                try await bench.refusal(RepairOwnerAttempts()) == "credential.nothing_to_repair")
            bench.clock.advance(seconds: 60)
            #expect(try await bench.unlock("1234").isVerified)
            #expect(try #require(try bench.stored()).charge == 2)
        }
    }

    /// A number one below the end leads both stores to it.
    @Test func aNumberThatLeadsToTheEndIsMendedToo() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try bench.setCharge(Int64(1) << 53 - 1)
            #expect(
                try await bench.unlock("1234")
                    == .coolingDown(remainingMilliseconds: 60_000, failed: 6))
            bench.clock.advance(seconds: 60)
            #expect(try await bench.unlock("1234").isVerified)
            #expect(
                try await bench.refusal(Self.lock, secret: "1234")
                    == "credential.attempts_damaged")
            _ = try await bench.ask(RepairOwnerAttempts())
            bench.clock.advance(seconds: 60)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func aRepairWhoseAnswerIsLostIsAskedForAgain() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try bench.setCharge(-1)
            bench.way.mishaps = [(RepairAttempts.method, .lostReply)]
            #expect(
                try await bench.refusal(RepairOwnerAttempts()) == "credential.limiter_silent")
            #expect(try await bench.ask(RepairOwnerAttempts()).reply.failed == 6)
            bench.clock.advance(seconds: 60)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }
}

extension Peer {
    var failedTry: FailedTry { FailedTry(atMilliseconds: 1_700_000_000_000, peer: name) }
}

extension [FailedTry] {
    static func from(_ peers: Peer...) -> [FailedTry] { peers.map(\.failedTry) }
}

extension Bench {
    /// A try for an owner without a passcode, which is none.
    fileprivate func unlock(
        _ code: String, as peer: Peer, owner: Owner, isRefused: Bool
    ) async throws -> Bool {
        let refusal = try await refusal(
            Verify(scope: .appUnlock, audience: []), as: peer, owner: owner, secret: code)
        return (refusal != nil) == isRefused
    }

    fileprivate func tryCount() throws -> Int64? {
        try authority.group.store.firstRow("SELECT count(*) FROM tries") {
            row throws(StorageError) in try row.integer(0)
        }
    }

    fileprivate func setCharge(_ number: Int64) throws {
        let database = authority.group.store
        try authority.group.write {
            _ = try database.run("UPDATE credentials SET charge = ?1", .integer(number))
        }
        try authority.endTurn()
    }

    fileprivate func removeLedgers() throws {
        let database = limiter.group.store
        try limiter.group.write { _ = try database.run("DELETE FROM ledgers") }
        try limiter.endTurn()
    }
}
