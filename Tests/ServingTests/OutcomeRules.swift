import Serving
import Storage
import TestKit
import Testing
import Wire

/// What became of a change can always be asked, and asking never makes it happen twice.
@Suite(.timeLimit(.minutes(1)))
struct OutcomeRules {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func aRepeatIsDoneOnceAndAnsweredTheSame() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            #expect(try await toy.call(Add(3), key: key(1)) == .success(.init(sum: 3)))
            #expect(try await toy.call(Add(3), key: key(1)) == .success(.init(sum: 3)))
            #expect(toy.service.runs == 1)
            #expect(try await toy.call(Add(3), key: key(2)) == .success(.init(sum: 6)))
        }
    }

    @Test func theSameKeyWithAnotherBodyIsRefused() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            _ = try await toy.call(Add(3), key: key(1))
            let second = try await toy.call(Add(4), key: key(1))
            #expect(second == .failure(BusFault.keyReused.refusal))
            #expect(try toy.service.sum(of: ToyHost.owner) == 3)
        }
    }

    @Test func aRejectedChangeLeavesNothingAndStaysRejected() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            _ = try await toy.call(Add(3), key: key(1))
            let first = try await toy.call(Add(-1), key: key(2))
            #expect(first == .failure(BusFault.malformed.refusal))
            #expect(try toy.service.sum(of: ToyHost.owner) == 3)
            let told = try await toy.call(AskOutcome<Toy>(key: key(2)))
            #expect(told == .success(.init(status: .rejected, code: "bus.malformed")))
            #expect(try await toy.call(Add(-1), key: key(2)) == first)
            #expect(toy.service.runs == 2)
        }
    }

    @Test func aKeyThatWasAskedForFirstIsWrittenOff() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            let told = try await toy.call(AskOutcome<Toy>(key: key(1)))
            #expect(told == .success(.init(status: .rejected, code: "bus.withdrawn")))
            let late = try await toy.call(Add(3), key: key(1))
            #expect(late == .failure(BusFault.withdrawn.refusal))
            #expect(try toy.service.sum(of: ToyHost.owner) == 0)
        }
    }

    @Test func aChangeUnderWayIsInFlightAndARepeatOfItDoesNotRun() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            #expect(try await toy.call(AddSlowly(), key: key(1)) == nil)
            let told = try await toy.call(AskOutcome<Toy>(key: key(1)))
            #expect(told == .success(.init(status: .inFlight, code: nil)))
            let again = try await toy.call(AddSlowly(), key: key(1))
            #expect(again == .failure(BusFault.inFlight.refusal))
            toy.service.letGo()
            await LoopHarness.settle()
            try toy.endTurn()
            #expect(toy.service.runs == 1)
            let after = try await toy.call(AskOutcome<Toy>(key: key(1)))
            #expect(after == .success(.init(status: .done, code: nil)))
        }
    }

    @Test func aChangeCutOffByARestartIsRejected() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            _ = try await toy.call(AddSlowly(), key: key(1))
            toy.service.group.store.close()
            let restarted = try ToyHost(in: folder)
            let told = try await restarted.call(AskOutcome<Toy>(key: key(1)))
            #expect(told == .success(.init(status: .rejected, code: "bus.interrupted")))
            #expect(try restarted.service.sum(of: ToyHost.owner) == 0)
            toy.service.letGo()
        }
    }

    @Test func outcomesSurviveARestartAndGoAMinuteAfterTheyWereSettled() async throws {
        try await LoopHarness.run { [folder] in
            let clock = FakeBootClock()
            let toy = try ToyHost(in: folder, clock: clock)
            _ = try await toy.call(Add(3), key: key(1))
            toy.service.group.store.close()
            let restarted = try ToyHost(in: folder, clock: clock)
            #expect(try await restarted.call(Add(3), key: key(1)) == .success(.init(sum: 3)))
            _ = try await restarted.call(Add(1), key: key(2), settled: [key(1)])
            clock.advance(seconds: 59)
            _ = try await restarted.call(Add(1), key: key(3))
            #expect(try await restarted.call(Add(3), key: key(1)) == .success(.init(sum: 3)))
            clock.advance(seconds: 2)
            _ = try await restarted.call(Add(1), key: key(4))
            let told = try await restarted.call(AskOutcome<Toy>(key: key(1)))
            #expect(told == .success(.init(status: .rejected, code: "bus.withdrawn")))
        }
    }

    @Test func aPeerWithTooManyUnsettledOutcomesIsBusy() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            for number in 0..<1_024 {
                let key = IdempotencyKey(
                    [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 9, count: 14))
                toy.give(Add(1), key: key)
                await LoopHarness.settle()
                if number % 32 == 31 { try toy.endTurn() }
            }
            try toy.endTurn()
            let refused = try await toy.call(Add(1), key: key(1))
            #expect(refused == .failure(BusFault.busy.refusal))
            #expect(try toy.service.sum(of: ToyHost.owner) == 1_024)
        }
    }

    @Test func askingForUnknownKeysFillsNoStore() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            for number in 0..<1_024 {
                let bytes = [UInt8(number >> 8), UInt8(number & 255)]
                let key = valid(IdempotencyKey(bytes + [UInt8](repeating: 9, count: 14)))
                toy.give(AskOutcome<Toy>(key: key))
                await LoopHarness.settle()
                if number % 32 == 31 { try toy.endTurn() }
            }
            let refused = try await toy.call(AskOutcome<Toy>(key: key(1)))
            #expect(refused == .failure(BusFault.busy.refusal))
        }
    }
}
