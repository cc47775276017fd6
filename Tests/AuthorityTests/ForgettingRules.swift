import AuthorityMessages
import LimiterMessages
import Loop
import Serving
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// What reaches the limiter when a reset has had it forget the owner lost no device secret: the
/// reset is told.
@Suite(.timeLimit(.minutes(1)))
struct ForgettingRules {
    @Test func aStatusThatMeetsAResetTellsIt() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            bench.way.lateMethod = AskStanding.method
            let status = bench.post(AskStatus())
            try await bench.settle()
            #expect(bench.way.lateCount == 1)
            let end = try await bench.forget(settings)
            bench.way.letArrive()
            #expect(try await bench.answer(status).reply.removal == .reset)
            bench.way.letGo()
            _ = try await bench.answer(end)
            #expect(try await bench.ask(AskStatus()).reply.removal == nil)
        }
    }

    /// Where the reset is over by then, there is another credential.
    @Test(arguments: [Begin.method, Confirm.method], [false, true])
    func aCheckThatMeetsAResetTellsIt(_ step: String, _ isOver: Bool) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            bench.way.lateMethod = step
            let check = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            #expect(bench.way.lateCount == 1)
            let end = try await bench.forget(settings)
            if isOver {
                bench.way.letGo()
                _ = try await bench.answer(end)
            }
            bench.way.letArrive()
            #expect(
                try await bench.refusal(of: check)
                    == (isOver ? "credential.stale" : "credential.removing"))
            bench.way.letGo()
            _ = try await bench.answer(end)
            #expect(bench.service.registry.count == 0)
            try await bench.set("5678")
            #expect(try await bench.unlock("5678").isVerified)
        }
    }
}

extension Bench {
    /// Resets the owner up to where the limiter has forgotten him and the authority has not heard
    /// of that.
    ///
    /// - Returns: the end, which goes on when the limiter's answer is let go.
    fileprivate func forget(_ settings: [UInt8]) async throws -> Pending<FinishRemoval> {
        let begun = try await ask(BeginRemoval(removalKind: .reset), token: settings).reply
        try await wipe(begun.removal)
        way.heldMethod = Forget.method
        let end = post(FinishRemoval(removal: begun.removal))
        try await settle()
        #expect(way.heldCount == 1)
        #expect(try deviceSecret() == nil)
        #expect(try service.store.removal(of: .local) != nil)
        return end
    }
}
