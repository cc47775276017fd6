import Serving
import TestKit
import Testing
import Wire

/// What depends on a lease does not happen when the lease is over by the end of the turn.
@Suite(.timeLimit(.minutes(1)))
struct LeaseRules {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func aReplyDoesNotLeaveWhenItsLeaseIsOver() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            toy.give(Look())
            await LoopHarness.settle()
            toy.service.leaseHolds = false
            try toy.endTurn()
            #expect(toy.sent.count == 1)
            let answer = toy.answer(toy.sent[0], to: Look.self)
            #expect(answer == .failure(SessionFault.ended.refusal))
        }
    }

    @Test func aChangeIsNotWrittenWhenItsLeaseIsOverAtTheCommit() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            toy.give(AddUnderLease(), key: key(1))
            toy.give(Add(5), key: key(2))
            await LoopHarness.settle()
            toy.service.leaseHolds = false
            try toy.endTurn()
            let answers = toy.sent.map { toy.answer($0, to: Add.self) }
            #expect(answers.contains(.failure(SessionFault.ended.refusal)))
            // Nothing of the turn was written, and the other one is told so.
            #expect(answers.contains(.failure(BusFault.busy.refusal)))
            #expect(try toy.service.sum(of: ToyHost.owner) == 0)
            #expect(try await toy.call(Add(5), key: key(2)) == .success(.init(sum: 5)))
        }
    }

    /// Whatever the kind of its method.
    @Test func whoeverWroteInTheTurnIsToldThatItIsUndone() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            toy.give(AddUnderLease(), key: key(1))
            toy.give(Count())
            await LoopHarness.settle()
            toy.service.leaseHolds = false
            try toy.endTurn()
            let answers = toy.sent.map { toy.answer($0, to: Count.self) }
            #expect(answers.count == 2)
            #expect(answers.contains(.failure(BusFault.busy.refusal)))
            #expect(!answers.contains { (try? $0.get()) != nil })
            #expect(try toy.service.sum(of: ToyHost.owner) == 0)
            toy.service.leaseHolds = true
            #expect(try await toy.call(Count()) == .success(.init(sum: 1)))
        }
    }

    /// What it saw is undone, or may be.
    @Test func whoeverLookedInTheTurnIsNotAnswered() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            toy.give(AddUnderLease(), key: key(1))
            toy.give(Peek())
            toy.give(Peek(unwanted: 1))
            toy.give(ListOwners<Toy>())
            await LoopHarness.settle()
            toy.service.leaseHolds = false
            try toy.endTurn()
            #expect(toy.sent.count == 4)
            let answers = toy.sent.map { toy.answer($0, to: Peek.self) }
            #expect(answers.filter { $0 == .failure(BusFault.busy.refusal) }.count == 3)
            #expect(try await toy.call(Peek()) == .success(.init(sum: 0)))
            let listed = try await toy.call(ListOwners<Toy>())
            #expect(try listed?.get().owners == [])
        }
    }

    @Test func whoeverWroteNothingIsAnswered() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            toy.give(Count(slowly: true))
            await LoopHarness.settle()
            try toy.endTurn()
            // What it wrote was committed in the turn before.
            toy.give(AddUnderLease(), key: key(1))
            toy.service.letGo()
            await LoopHarness.settle()
            toy.service.leaseHolds = false
            try toy.endTurn()
            let answers = toy.sent.map { toy.answer($0, to: Count.self) }
            #expect(answers.contains(.success(.init(sum: 1))))
            #expect(try toy.service.sum(of: ToyHost.owner) == 1)
        }
    }

    @Test func aWriteThatWasUndoneIsNotAcknowledgedInALaterTurn() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            toy.give(Count(slowly: true))
            toy.give(AddUnderLease(), key: key(1))
            await LoopHarness.settle()
            toy.service.leaseHolds = false
            try toy.endTurn()
            #expect(toy.sent.count == 1)
            toy.service.letGo()
            await LoopHarness.settle()
            try toy.endTurn()
            #expect(toy.sent.count == 2)
            let answer = toy.answer(toy.sent[1], to: Count.self)
            #expect(answer == .failure(BusFault.busy.refusal))
        }
    }

    /// The first of its writes stands and the last does not.
    @Test func whatIsHalfWrittenIsNotToldAsNothing() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            toy.give(AddSlowly(), key: key(2))
            await LoopHarness.settle()
            try toy.endTurn()
            toy.give(AddUnderLease(), key: key(1))
            toy.service.letGo()
            await LoopHarness.settle()
            toy.service.leaseHolds = false
            try toy.endTurn()
            let answers = toy.sent.map { toy.answer($0, to: Add.self) }
            #expect(answers.contains(.failure(StorageFault.failed.refusal)))
        }
    }

    @Test func whileItHoldsBothHappen() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            #expect(try await toy.call(AddUnderLease(), key: key(1)) == .success(.init(sum: 1)))
            #expect(try await toy.call(Look()) == .success(.init(sum: 1)))
        }
    }
}
