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

/// How a credential stands is told without a session, also while the limiter is away.
@Suite(.timeLimit(.minutes(1)))
struct StatusRules {
    @Test func anOwnerWithoutARecordHasNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            #expect(
                try await bench.ask(AskStatus()).reply
                    == .init(
                        credential: nil, kind: nil, protection: false, unlocked: false,
                        sessions: 0, failed: 0, remainingMilliseconds: 0))
            #expect(try bench.service.owners().isEmpty)
        }
    }

    @Test func aPasscodeAndItsAttemptsAreTold() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let id = try await bench.set("123456", .digits6).credential
            _ = try await bench.token(.settings, audience: [], code: "123456")
            for _ in 1...6 { _ = try await bench.unlock("9999") }
            #expect(
                try await bench.ask(AskStatus(), as: .extension).reply
                    == .init(
                        credential: id, kind: .digits6, protection: true, unlocked: true,
                        sessions: 1, failed: 6, remainingMilliseconds: 60_000,
                        tries: .from(.app, .app, .app, .app, .app, .app)))
            #expect(try bench.service.owners() == [.local])
            #expect(try bench.service.ownerCount() == 1)
        }
    }

    @Test func aLimiterThatIsAwayIsSaid() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let id = try await bench.set().credential
            bench.way.mishaps = [(AskStanding.method, .lostRequest)]
            let status = try await bench.ask(AskStatus()).reply
            #expect(status.credential == id && !status.limiterAnswers)
        }
    }

    @Test func aDamagedRecordIsSaidAndLeftAlone() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try bench.overwriteRecord(with: "{}")
            #expect(try await bench.refusal(AskStatus()) == "credential.damaged")
            let set = SetPasscode(passcodeKind: .digits4)
            #expect(try await bench.refusal(set, secret: "1234") == "credential.damaged")
            let lock = Verify(scope: .appUnlock, audience: [])
            #expect(try await bench.refusal(lock, secret: "1234") == "credential.damaged")
            try bench.overwriteRecord(with: #"{"version":2}"#)
            #expect(try await bench.refusal(AskStatus()) == "credential.unsupported_version")
            #expect(try bench.failed() == 0)
        }
    }

    @Test func attemptsThatCannotBeReadAreRepaired() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            #expect(try await bench.refusal(RepairOwnerAttempts()) == "credential.no_passcode")
            try await bench.set()
            #expect(
                try await bench.refusal(RepairOwnerAttempts()) == "credential.nothing_to_repair")
            try bench.damageAttempts()
            let lock = Verify(scope: .appUnlock, audience: [])
            #expect(
                try await bench.refusal(lock, secret: "1234") == "credential.attempts_damaged")
            let repaired = try await bench.ask(RepairOwnerAttempts()).reply
            #expect(repaired == .init(failed: 6, remainingMilliseconds: 60_000))
            bench.clock.advance(seconds: 60)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func thePolicyIsChangedOnlyInASettingsSession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let set = SetSignPolicy(policy: .session)
            #expect(try await bench.refusal(set) == "session.invalid")
            for scope in [Scope.managePasscode, .appUnlock] {
                let token = try await bench.token(scope, audience: [])
                #expect(try await bench.refusal(set, token: token) == "credential.not_authorised")
            }
            let resource = try await bench.resourceToken()
            #expect(try await bench.refusal(set, token: resource) == "credential.not_authorised")
            let settings = try await bench.settingsToken()
            #expect(
                try await bench.refusal(set, as: .otherApp, token: settings) == "session.invalid")
            #expect(try await bench.ask(AskSignPolicy()).reply.policy == .proof)
            #expect(try await bench.refusal(set, token: settings) == nil)
            try bench.restart()
            #expect(try await bench.ask(AskSignPolicy()).reply.policy == .session)
            #expect(try await bench.ask(AskSignPolicy(), owner: .other).reply.policy == .proof)
        }
    }

    @Test func everyRequestOfTheContractIsAnswered() {
        let names = Set(AuthorityService.methods.map(\.name))
        #expect(
            names == [
                Verify.method, SetPasscode.method, Derive.method, CheckSession.method,
                Lock.method, Revoke.method, AskStatus.method, RepairOwnerAttempts.method,
                AskSignPolicy.method, SetSignPolicy.method, AskTokenKeys.method,
                DisablePasscode.method, SetProtection.method, OpenSession.method, Unlock.method,
                ImportCredential.method, BeginRemoval.method, BeginFreshReset.method,
                CheckRemoval.method,
                ReportWiped.method, FinishRemoval.method, Renew.method, AwaitUnlocked.method,
                ListSessions.method,
                EndSession.method, OpenDeviceSession.method, AskDeviceKey.method,
                EnrolDeviceKey.method, RemoveDeviceKey.method,
            ])
    }
}

extension Bench {
    func overwriteRecord(with text: String) throws {
        let database = authority.group.store
        try authority.group.write {
            _ = try database.run(
                "UPDATE credentials SET record = ?1", .blob(Array(text.utf8)))
        }
        try authority.endTurn()
    }

    func damageAttempts() throws {
        let database = limiter.group.store
        try limiter.group.write {
            _ = try database.run("UPDATE ledgers SET record = ?1", .blob([0]))
        }
        try limiter.endTurn()
    }
}
