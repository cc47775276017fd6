import Serving
import TestKit
import Testing
import Wire

/// Who may not ask is refused before any store is touched.
@Suite(.timeLimit(.minutes(1)))
struct AdmissionRules {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func anotherOwnerIsForbidden() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            let refused = try await toy.call(Add(1), key: key(1), owner: valid(Owner("other")))
            #expect(refused == .failure(BusFault.forbidden.refusal))
            #expect(toy.service.runs == 0)
        }
    }

    @Test func aRemovedPeerIsForbiddenAtItsNextRequest() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            #expect(try await toy.call(Add(1), key: key(1)) == .success(.init(sum: 1)))
            toy.admit(false)
            let refused = try await toy.call(Add(1), key: key(2))
            #expect(refused == .failure(BusFault.forbidden.refusal))
        }
    }

    @Test func aChangeWithoutAKeyIsMalformed() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            let refused = try await toy.call(Add(1))
            #expect(refused == .failure(BusFault.malformed.refusal))
        }
    }

    @Test func repliesLeaveOnlyAfterTheTurnsCommit() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            toy.give(Add(1), key: key(1))
            toy.give(Add(-1), key: key(2))
            toy.give(Add(2), key: key(3))
            await LoopHarness.settle()
            #expect(toy.sent.isEmpty)
            try toy.endTurn()
            let answers = toy.sent.map { toy.answer($0, to: Add.self) }
            #expect(answers.contains(.success(.init(sum: 1))))
            #expect(answers.contains(.success(.init(sum: 3))))
            #expect(answers.contains(.failure(BusFault.malformed.refusal)))
        }
    }

    @Test func everyServiceTellsItsHealthAndMetrics() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            _ = try await toy.call(Add(1), key: key(1))
            let health = try await toy.call(Health<Toy>())
            #expect(try health?.get().healthy == true)
            let metrics = try await toy.call(Metrics<Toy>())
            let line = "coffer_requests_total{method=\"vault.add\",result=\"ok\"} 1"
            #expect(try metrics?.get().text.contains(line) == true)
        }
    }

    @Test func aPeerHasOnlySoManyRequestsUnderWay() async throws {
        try await LoopHarness.run { [folder] in
            let toy = try ToyHost(in: folder)
            for number in 1...64 { toy.give(AddSlowly(), key: key(UInt8(number))) }
            await LoopHarness.settle()
            let refused = try await toy.call(AddSlowly(), key: key(65))
            #expect(refused == .failure(BusFault.busy.refusal))
            toy.service.letGo()
            await LoopHarness.settle()
            try toy.endTurn()
            #expect(try toy.service.sum(of: ToyHost.owner) == 64)
        }
    }
}
