import AuthorityMessages
import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Serving
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// Owner-managed sessions: no deadline, suspended by a lock, ended by their owner or by silence.
@Suite(.timeLimit(.minutes(1)))
struct OwnerManagedRules {
    @Test func itHasNoDeadlineWhileItIsRenewed() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.managedToken()
            for _ in 1...40 {
                bench.clock.advance(seconds: 14)
                #expect(
                    try await bench.ask(Renew(), token: token).reply
                        == .init(remainingMilliseconds: 15_000))
            }
            #expect(try await bench.refusal(of: bench.derive(token)) == nil)
            bench.clock.advance(seconds: 15)
            #expect(try await bench.refusal(Renew(), token: token) == "session.ended")
            #expect(try await bench.refusal(of: bench.derive(token)) == "session.ended")
        }
    }

    /// A service has no deadline to end such a session by, so a lapse is news.
    @Test func aLapseIsToldToSubscribers() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.managedToken()
            let id = bench.service.registry.allSessions.first?.claims.session
            bench.clock.advance(seconds: 15)
            bench.service.registry.sweep()
            #expect(bench.events.events.last?.kind == .revoked)
            #expect(id != nil && bench.events.events.last?.session == id)
            #expect(bench.service.registry.count == 0)
        }
    }

    @Test func theSleepOfTheMachineDoesNotCount() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.managedToken()
            bench.clock.advance(seconds: 10)
            bench.clock.sleepMachine(seconds: 3_600)
            #expect(try await bench.refusal(of: bench.derive(token)) == nil)
            bench.clock.advance(seconds: 5)
            #expect(try await bench.refusal(of: bench.derive(token)) == "session.ended")
        }
    }

    @Test func aLockSuspendsItAndAnUnlockResumesIt() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.managedToken()
            let standard = try await bench.resourceToken()
            #expect(try await bench.ask(Lock()).reply.revoked == 1)
            #expect(try await bench.refusal(of: bench.derive(token)) == "credential.locked")
            #expect(try await bench.refusal(of: bench.derive(standard)) == "session.ended")
            _ = try await bench.unlock("1234", as: .otherApp)
            #expect(try await bench.refusal(of: bench.derive(token)) == nil)
            #expect(try await bench.refusal(of: bench.derive(standard)) == "session.ended")
        }
    }

    @Test func aWaitEndsWhenTheOwnerIsUnlocked() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.managedToken()
            let wait = AwaitUnlocked(waitMilliseconds: 10_000)
            #expect(try await bench.ask(wait, token: token).reply.unlocked)
            _ = try await bench.ask(Lock())
            bench.timePasses = false
            let pending = bench.post(wait, token: token)
            try await bench.settle()
            #expect(!bench.isAnswered(pending))
            _ = try await bench.unlock("1234")
            #expect(try await bench.answer(pending).reply.unlocked)
        }
    }

    @Test func aWaitFailsWhenTheSessionEnds() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.managedToken()
            _ = try await bench.ask(Lock())
            bench.timePasses = false
            let pending = bench.post(AwaitUnlocked(waitMilliseconds: 10_000), token: token)
            try await bench.settle()
            #expect(try await bench.ask(Revoke(), token: token).reply.revoked == 1)
            #expect(try await bench.refusal(of: pending) == "session.ended")
        }
    }

    @Test func aWaitFailsWhenTheSessionLapses() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.managedToken()
            _ = try await bench.ask(Lock())
            bench.timePasses = false
            let pending = bench.post(AwaitUnlocked(waitMilliseconds: 60_000), token: token)
            try await bench.settle()
            bench.clock.advance(seconds: 15)
            bench.service.registry.sweep()
            #expect(try await bench.refusal(of: pending) == "session.ended")
        }
    }

    @Test func aWaitIsCancelledByAnotherAndEndsInItsTime() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.managedToken()
            _ = try await bench.ask(Lock())
            bench.timePasses = false
            let first = bench.post(AwaitUnlocked(waitMilliseconds: 10_000), token: token)
            try await bench.settle()
            let cancel = bench.post(AwaitUnlocked(waitMilliseconds: 0), token: token)
            #expect(try await !bench.answer(first).reply.unlocked)
            try await bench.advance(milliseconds: 0)
            #expect(try await !bench.answer(cancel).reply.unlocked)
            let last = bench.post(AwaitUnlocked(waitMilliseconds: 500), token: token)
            try await bench.settle()
            try await bench.advance(milliseconds: 499)
            #expect(!bench.isAnswered(last))
            try await bench.advance(milliseconds: 1)
            #expect(try await !bench.answer(last).reply.unlocked)
        }
    }

    @Test func aStandardSessionNeitherWaitsNorIsRenewed() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            #expect(try await bench.refusal(Renew(), token: token) == "credential.not_authorised")
            _ = try await bench.ask(Lock())
            #expect(
                try await bench.refusal(AwaitUnlocked(waitMilliseconds: 1), token: token)
                    == "session.ended")
        }
    }

    @Test(arguments: [
        Scope.appUnlock, .managePasscode, .settings, .sign(.main, .first), .reveal(.main, .first),
    ])
    func onlyResourceSessionsAreOwnerManaged(_ scope: Scope) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let audience: [ServiceName] = scope.namespace == nil ? [] : [.walletVault]
            let request = Verify(scope: scope, audience: audience, lifetime: .ownerManaged)
            #expect(
                try await bench.refusal(request, secret: "1234") == "credential.not_authorised")
            #expect(!bench.way.asked.contains(Begin.method))
        }
    }

    @Test func aChangeOfTheCredentialEndsIt() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.managedToken()
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(SetProtection(protection: false), token: settings)
            #expect(bench.service.registry.count == 1)
            #expect(try await bench.refusal(of: bench.derive(token)) == "session.ended")
            let open = try await bench.ask(
                OpenSession(
                    scope: .resource(.main), audience: [.walletVault], lifetime: .ownerManaged))
            let other = try #require(open.attachments.first).bytes.open
            #expect(open.reply.remainingMilliseconds == 15_000)
            _ = try await bench.ask(
                SetPasscode(passcodeKind: .digits4), token: settings, secret: "5678")
            #expect(bench.service.registry.count == 0)
            #expect(try await bench.refusal(Renew(), token: other) == "session.ended")
        }
    }

    /// At once, and not only when it is used: no access key stays in memory.
    @Test func aRemovalOfThePasscodeEndsIt() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.managedToken()
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(DisablePasscode(), token: settings)
            #expect(bench.service.registry.count == 0)
            #expect(try await bench.refusal(Renew(), token: token) == "session.ended")
        }
    }
}

/// The owner's sessions can be looked at and ended one by one.
@Suite(.timeLimit(.minutes(1)))
struct SessionListRules {
    @Test func sessionsAreListedNewestFirstWithTheirPeers() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.settingsToken()
            bench.clock.advance(seconds: 1)
            _ = try await bench.managedToken(as: .otherApp)
            let listed = try await bench.ask(ListSessions()).reply
            #expect(listed.more == 0)
            #expect(listed.sessions.map(\.scope) == [.resource(.main), .settings])
            #expect(listed.sessions.map(\.peer) == ["otherApp", "app"])
            #expect(listed.sessions.map(\.lifetime) == [.ownerManaged, .standard])
            #expect(listed.sessions.map(\.remainingMilliseconds) == [15_000, 299_000])
            #expect(try await bench.ask(ListSessions(), owner: .other).reply.sessions.isEmpty)
            #expect(try await bench.refusal(ListSessions(), as: .extension) == "bus.forbidden")
        }
    }

    @Test func oneIsEndedAndTheOthersGoOn() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let kept = try await bench.resourceToken()
            bench.clock.advance(seconds: 1)
            let ended = try await bench.token(
                .resource(.side), audience: [.walletVault], as: .otherApp)
            let listed = try await bench.ask(ListSessions()).reply.sessions
            let end = EndSession(session: listed[0].session)
            #expect(try await bench.ask(end, owner: .other).reply.revoked == 0)
            #expect(try await bench.ask(end).reply.revoked == 1)
            #expect(try await bench.ask(end).reply.revoked == 0)
            #expect(
                try await bench.refusal(Revoke(), as: .otherApp, token: ended) == "session.ended")
            #expect(try await bench.refusal(of: bench.derive(kept)) == nil)
        }
    }

    @Test func anEndIsSaidWhenTheLastLeaseIsOver() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            bench.timePasses = false
            _ = try await bench.answer(bench.derive(token))
            let id = try #require(try await bench.ask(ListSessions()).reply.sessions.first).session
            let end = bench.post(EndSession(session: id))
            try await bench.advance(milliseconds: 249)
            #expect(!bench.isAnswered(end))
            try await bench.advance(milliseconds: 1)
            #expect(bench.isAnswered(end))
        }
    }

    /// The longest list that there can be fits a frame.
    @Test func theListIsBounded() throws {
        let wallet = WalletID.first
        let namespace = try #require(Namespace(String(repeating: "n", count: 64)))
        let entry = ListSessions.Entry(
            session: try #require(SessionID([UInt8](repeating: 9, count: 16))),
            scope: .reveal(namespace, wallet), origin: .unprotected, lifetime: .ownerManaged,
            remainingMilliseconds: 300_000, peer: String(repeating: "p", count: 64))
        let reply = ListSessions.Reply(
            sessions: Array(repeating: entry, count: ListSessions.limit), more: 9_999)
        #expect(reply.encoded().count < 131_072)
    }
}

extension Bench {
    /// An owner-managed session of the first namespace.
    func managedToken(as peer: Peer = .app) async throws -> [UInt8] {
        let answer = try await ask(
            Verify(scope: .resource(.main), audience: [.walletVault], lifetime: .ownerManaged),
            as: peer, secret: "1234")
        guard case .verified(15_000, _, _) = answer.reply, let token = answer.attachments.first
        else { throw NoSession() }
        return token.bytes.open
    }
}
