import AuthorityMessages
import Clocks
import Loop
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// A session ends at its deadline and not before, and an end is said when no lease is left.
@Suite(.timeLimit(.minutes(1)))
struct SessionEndRules {
    @Test(
        arguments: [
            (Scope.resource(.main), Purpose.open, 300), (.sign(.main, .first), .sign, 60),
            (.reveal(.main, .first), .reveal, 60),
        ] as [(Scope, Purpose, UInt64)])
    func itIsOverAtItsDeadline(
        _ scope: Scope, _ purpose: Purpose, _ seconds: UInt64
    ) async throws {
        try await LoopHarness.run {
            for isOver in [false, true] {
                let bench = try Bench()
                bench.timePasses = false
                let set = bench.post(SetPasscode(passcodeKind: .digits4), secret: "1234")
                try await bench.settle()
                try await bench.advance(milliseconds: 250)
                _ = try await bench.answer(set)
                let token = try await bench.token(scope, audience: [.walletVault])
                bench.clock.advance(nanoseconds: seconds * 1_000_000_000 - (isOver ? 0 : 2_000_000))
                let use = bench.derive(token, purpose, wallet: .first)
                if isOver {
                    #expect(try await bench.refusal(of: use) == "session.ended")
                } else {
                    #expect(try await bench.answer(use).reply.leaseMilliseconds == 2)
                }
            }
        }
    }

    /// The registry by itself, whatever else looks at a deadline.
    @Test func theNanosecondOfTheDeadlineIsTheFirstOneAfterIt() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            bench.timePasses = false
            let issued = bench.clock.now.nanoseconds
            _ = try await bench.settingsToken()
            let id = try #require(bench.service.registry.onlySession).claims.session
            #expect(bench.clock.now.nanoseconds == issued)
            bench.clock.advance(nanoseconds: 299_999_999_999)
            #expect(bench.service.registry.live(id) != nil)
            bench.clock.advance(nanoseconds: 1)
            #expect(bench.service.registry.live(id) == nil)
        }
    }

    @Test func aLockEndsEverySessionOfTheOwnerAtOnce() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try await bench.set(owner: .other)
            let mine = try await bench.resourceToken()
            let settings = try await bench.settingsToken()
            let others = try await bench.token(
                .resource(.main), audience: [.walletVault], owner: .other)
            #expect(try await bench.ask(Lock()).reply.revoked == 2)
            #expect(try await bench.refusal(of: bench.derive(mine)) == "session.ended")
            #expect(
                try await bench.refusal(
                    SetPasscode(passcodeKind: .digits4), token: settings, secret: "5678")
                    == "session.ended")
            #expect(
                try await bench.refusal(of: bench.derive(others, owner: .other)) == nil)
            #expect(try await bench.ask(AskStatus()).reply.unlocked == false)
            #expect(try await bench.ask(AskStatus(), owner: .other).reply.unlocked)
        }
    }

    @Test func aLockIsSaidWhenTheLastLeaseIsOver() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            bench.timePasses = false
            _ = try await bench.answer(bench.derive(token))
            try await bench.advance(milliseconds: 100)
            _ = try await bench.answer(bench.derive(token))
            let lock = bench.post(Lock())
            try await bench.advance(milliseconds: 249)
            // The revocation stands before it is said.
            #expect(try await bench.refusal(of: bench.derive(token)) == "session.ended")
            #expect(!bench.isAnswered(lock))
            try await bench.advance(milliseconds: 1)
            #expect(bench.isAnswered(lock))
        }
    }

    @Test func aLockWithoutLeasesIsSaidAtOnce() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.resourceToken()
            bench.timePasses = false
            let lock = bench.post(Lock())
            try await bench.settle()
            #expect(bench.isAnswered(lock))
        }
    }

    @Test func leasesOfTheRunBeforeAreWaitedFor() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.timePasses = false
            let lock = bench.post(Lock())
            try await bench.advance(milliseconds: 249)
            #expect(!bench.isAnswered(lock))
            try await bench.advance(milliseconds: 1)
            #expect(bench.isAnswered(lock))
        }
    }

    @Test func aSpentProofsLeaseIsWaitedForToo() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.token(.sign(.main, .first), audience: [.walletVault])
            bench.timePasses = false
            _ = try await bench.answer(bench.derive(token, .sign, wallet: .first))
            let lock = bench.post(Lock())
            try await bench.advance(milliseconds: 249)
            #expect(!bench.isAnswered(lock))
            try await bench.advance(milliseconds: 1)
            #expect(bench.isAnswered(lock))
        }
    }

    @Test func aHolderEndsHisSessionAndNoOther() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let first = try await bench.resourceToken()
            let second = try await bench.resourceToken()
            #expect(
                try await bench.refusal(Revoke(), as: .otherApp, token: first)
                    == "session.invalid")
            bench.timePasses = false
            _ = try await bench.answer(bench.derive(first))
            let revoke = bench.post(Revoke(), token: first)
            try await bench.settle()
            #expect(!bench.isAnswered(revoke))
            #expect(try await bench.refusal(of: bench.derive(first)) == "session.ended")
            #expect(try await bench.refusal(of: bench.derive(second)) == nil)
            try await bench.advance(milliseconds: 250)
            #expect(bench.isAnswered(revoke))
            let kinds = bench.events.events.map(\.kind)
            #expect(kinds.last == .revoked)
        }
    }

    @Test func aRestartEndsEverySession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            let run = bench.service.registry.run
            try bench.restart()
            #expect(bench.service.registry.run != run)
            #expect(try await bench.refusal(of: bench.derive(token)) == "session.invalid")
            #expect(try await bench.ask(AskStatus()).reply.unlocked == false)
        }
    }

    @Test func sessionsHaveABoundAndThoseThatAreOverMakeRoom() async throws {
        try await LoopHarness.run {
            var settings = AuthoritySettings()
            settings.sessions = 2
            let bench = try Bench(settings: settings)
            try await bench.set()
            _ = try await bench.resourceToken()
            _ = try await bench.resourceToken()
            let lock = Verify(scope: .appUnlock, audience: [])
            #expect(try await bench.refusal(lock, secret: "1234") == "bus.busy")
            #expect(try bench.failed() == 0)
            bench.clock.advance(seconds: 300)
            #expect(try await bench.unlock("1234").isVerified)
            #expect(bench.service.registry.count == 1)
        }
    }

    @Test func theHeartbeatComesInTimeAndWipesWhatIsOver() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.resourceToken()
            bench.timePasses = false
            bench.service.startHeartbeat()
            try await bench.settle()
            let before = bench.events.events.count
            for _ in 0..<4 { try await bench.advance(milliseconds: 500) }
            let beats = bench.events.events[before...]
            #expect(beats.count == 4 && beats.allSatisfy { $0.kind == .heartbeat })
            let numbers = bench.events.events.map(\.number)
            #expect(numbers == Array(1...UInt64(numbers.count)))
            #expect(bench.events.events.allSatisfy { $0.run == bench.service.registry.run })
            #expect(bench.service.registry.count == 1)
            bench.clock.advance(seconds: 300)
            bench.timers.fire()
            try await bench.settle()
            #expect(bench.service.registry.count == 0)
        }
    }

    @Test func tokensNameTheirKeyAndServicesFetchIt() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let bytes = try await bench.resourceToken()
            let keys = try await bench.ask(AskTokenKeys(), as: .vault).reply
            var verifier = TokenVerifier(service: .walletVault)
            verifier.install(
                keys: keys.keys.map { TokenKey(id: $0.id, publicKey: $0.publicKey) },
                run: keys.run)
            let token = try #require(ReceivedToken(bytes: bytes))
            let claims = try verifier.verify(
                token, presentedBy: Peer.app.key, now: bench.clock.now
            ).claims
            #expect(claims.scope == .resource(.main) && claims.origin == .passcode)
            #expect(claims.audience == [.walletVault] && claims.holder == Peer.app.key)
            #expect(claims.revision == 2 && claims.lifetime == .standard)
            #expect(throws: SessionFault.invalid) {
                try verifier.verify(
                    token, presentedBy: Peer.otherApp.key, now: bench.clock.now)
            }
        }
    }
}
