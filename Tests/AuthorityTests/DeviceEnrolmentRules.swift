import AuthorityMessages
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// The six steps of an enrolment, and what is left wherever they break off.
@Suite(.timeLimit(.minutes(2)))
struct DeviceEnrolmentRules {
    @Test func aTokenIsEnrolled() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let resource = try await bench.resourceToken()
            let settings = try await bench.settingsToken()
            let before = try #require(try bench.stored()).record
            let reply = try await bench.ask(
                EnrolDeviceKey(token: FakeTokens.first), token: settings, secret: "4321"
            ).reply
            #expect(
                reply
                    == .init(
                        token: FakeTokens.first, form: .data, revision: before.revision + 1))
            #expect(bench.tokens.asked == [.delete, .store, .release])
            let record = try #require(try bench.stored()).record
            #expect(record.biometricAccount?.hasPrefix("biometric.") == true)
            #expect(record.pendingBiometricAccount == nil && record.biometricCleanup.isEmpty)
            #expect(record.passcode == before.passcode)
            // The settings session goes on, and every other is over.
            #expect(try await bench.refusal(of: bench.derive(resource)) == "session.ended")
            #expect(
                try await bench.refusal(SetSignPolicy(policy: .proof), token: settings) == nil)
        }
    }

    @Test func itTakesASettingsSessionAndProtection() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            for token in [
                try await bench.token(.managePasscode, audience: []),
                try await bench.resourceToken(),
            ] {
                #expect(
                    try await bench.enrolRefusal(FakeTokens.first, session: token)
                        == "credential.not_authorised")
            }
            #expect(
                try await bench.enrolRefusal(FakeTokens.first, session: []) == "session.invalid")
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(SetProtection(protection: false), token: settings)
            #expect(
                try await bench.enrolRefusal(FakeTokens.first, session: settings)
                    == "device_key.unprotected")
            #expect(bench.tokens.asked.isEmpty)
            #expect(try await bench.deviceRefusal() == "device_key.none")
        }
    }

    @Test func aSlipOfTheHandIsNotJournalled() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            #expect(
                try await bench.enrolRefusal("pkcs11:token=none") == "device_key.no_token")
            #expect(
                try await bench.enrolRefusal(FakeTokens.first, pin: "1") == "device_key.wrong_pin")
            #expect(
                try await bench.enrolRefusal(FakeTokens.first, pin: nil)
                    == "device_key.pin_needed")
            let long = String(repeating: "1", count: 257)
            #expect(
                try await bench.enrolRefusal(FakeTokens.first, pin: long)
                    == "device_key.wrong_pin")
            let record = try #require(try bench.stored()).record
            #expect(record.pendingBiometricAccount == nil && record.biometricCleanup.isEmpty)
            #expect(bench.tokens.asked == [.delete, .delete, .delete])
            #expect(try await bench.route().waiting.isEmpty)
        }
    }

    @Test func aSecondTokenTakesTheFirstOnesPlace() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let old = try #require(try bench.stored()?.record.biometricAccount)
            try await bench.enrol(FakeTokens.first)
            let new = try #require(try bench.stored()?.record.biometricAccount)
            #expect(new != old)
            #expect(bench.tokens.tokens[FakeTokens.first]?.objects.keys.sorted() == [new])
            #expect(try await bench.route().waiting.isEmpty)
            // On another token the PIN is another one: what is on the first waits.
            try await bench.enrol(FakeTokens.second)
            #expect(
                try await bench.route()
                    == .init(token: FakeTokens.second, form: .data, waiting: [FakeTokens.first]))
            #expect(try await bench.deviceRefusal() == nil)
            // The next change with that token deletes it.
            try await bench.enrol(FakeTokens.first)
            #expect(bench.tokens.objectCount(FakeTokens.first) == 1)
            #expect(try await bench.route().waiting == [FakeTokens.second])
        }
    }

    static let mishaps: [(act: FakeTokens.Act, mishap: FakeTokens.Mishap)] =
        FakeTokens.Act.allCases.flatMap { act in
            [.fails(.tokenFailed), .fails(.noToken), .losesAnswer].map { (act, $0) }
        } + [(.release, .liesAboutKey), (.store, .fails(.wrongPIN)), (.store, .fails(.cancelled))]

    @Test(arguments: 0..<mishaps.count)
    func aFailureBeforeTheCommitKeepsTheEarlierRoute(_ index: Int) async throws {
        try await LoopHarness.run {
            let one = Self.mishaps[index]
            let bench = try Bench()
            try await bench.enrolled()
            let old = try #require(try bench.stored()).record
            // Something that waits, so that there is something to delete first.
            bench.tokens.mishaps = [(.store, .losesAnswer)]
            #expect(try await bench.enrolRefusal(FakeTokens.second) != nil)
            #expect(bench.tokens.objectCount(FakeTokens.second) == 1)
            bench.tokens.mishaps = [one]
            #expect(try await bench.enrolRefusal(FakeTokens.second) != nil)
            let record = try #require(try bench.stored()).record
            #expect(record.biometricAccount == old.biometricAccount)
            #expect(record.revision == old.revision)
            #expect(try await bench.deviceRefusal() == nil)
            #expect(try bench.failed() == 0)
            // Nothing on a token that the journal does not name.
            let named = record.biometricCleanup + [record.pendingBiometricAccount].compactMap { $0 }
            let left = bench.tokens.tokens[FakeTokens.second]?.objects.keys.sorted() ?? []
            #expect(left.allSatisfy { named.contains($0) })
            // And the next one cleans up.
            #expect(try await bench.enrolRefusal(FakeTokens.second) == nil)
            #expect(bench.tokens.objectCount(FakeTokens.second) == 1)
            #expect(try await bench.route().waiting == [FakeTokens.first])
        }
    }

    @Test func afterTheCommitACleanupThatFailsKeepsTheNewRoute() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let old = try #require(try bench.stored()?.record.biometricAccount)
            // The first one is before the commit.
            bench.tokens.mishaps = [(.delete, .none), (.delete, .fails(.tokenFailed))]
            #expect(try await bench.enrolRefusal(FakeTokens.first) == nil)
            let record = try #require(try bench.stored()).record
            #expect(record.biometricAccount != old && record.biometricCleanup == [old])
            #expect(bench.tokens.objectCount(FakeTokens.first) == 2)
            #expect(try await bench.deviceRefusal() == nil)
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(
                RemoveDeviceKey(lost: false), token: settings, secret: "4321")
            #expect(bench.tokens.objectCount(FakeTokens.first) == 0)
            #expect(try await bench.route() == .init(token: nil, form: nil, waiting: []))
        }
    }

    /// What may happen between the protected read and the commit.
    @Test(arguments: ["lock", "revoke", "change", "removal"])
    func theSessionIsLookedAtOnceMore(_ event: String) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let old = try #require(try bench.stored()?.record.biometricAccount)
            let settings = try await bench.settingsToken()
            let other = try await bench.settingsToken()
            bench.tokens.heldAct = .release
            let pending = bench.post(
                EnrolDeviceKey(token: FakeTokens.second), token: settings, secret: "4321")
            try await bench.run { bench.tokens.heldCount == 1 }
            switch event {
            case "lock": _ = try await bench.ask(Lock())
            case "revoke": _ = try await bench.ask(Revoke(), token: settings)
            case "change":
                _ = try await bench.ask(
                    SetPasscode(passcodeKind: .digits4), token: other, secret: "5678")
            default: _ = try await bench.ask(BeginRemoval(removalKind: .reset), token: other)
            }
            bench.tokens.letGo()
            let refused = try await bench.refusal(of: pending)
            #expect(refused == (event == "removal" ? "credential.removing" : "session.ended"))
            #expect(try bench.stored()?.record.biometricAccount == old)
            #expect(bench.tokens.objectCount(FakeTokens.second) == 0)
            #expect(bench.tokens.objectCount(FakeTokens.first) == 1)
        }
    }

    /// More steps than an enrolment has.
    @Test(arguments: 0..<30)
    func aKillKeepsOneRouteThatWorks(_ step: Int) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            bench.tokens.mishaps = [(.store, .losesAnswer)]
            #expect(try await bench.enrolRefusal(FakeTokens.second) != nil)
            let settings = try await bench.settingsToken()
            let key = IdempotencyKey.numbered(500)
            _ = bench.post(
                EnrolDeviceKey(token: FakeTokens.second), token: settings, secret: "4321",
                key: key)
            for _ in 0..<step { try await bench.step() }
            try bench.restart()
            bench.service.retireBrokenEnrolments()
            try bench.authority.endTurn()
            #expect(try bench.stored()?.record.pendingBiometricAccount == nil)
            let isDone =
                try await bench.ask(AskOutcome<Authority>(key: key)).reply.status == .done
            #expect(
                try await bench.route().token
                    == (isDone ? FakeTokens.second : FakeTokens.first))
            #expect(try await bench.deviceRefusal() == nil)
            #expect(try await bench.unlock("1234").isVerified)
            // Whatever was left on the token is deleted with the next change.
            try await bench.enrol(FakeTokens.second)
            #expect(bench.tokens.objectCount(FakeTokens.second) == 1)
            try await bench.enrol(FakeTokens.first)
            #expect(bench.tokens.objectCount(FakeTokens.first) == 1)
        }
    }

    @Test func whatWaitsIsBounded() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let names = (0..<AskDeviceKey.waitingLimit).map { "biometric.\($0)" }
            let store = bench.service.store
            try bench.authority.group.write {
                for name in names {
                    try store.save(
                        DeviceCopy(account: name, token: "pkcs11:token=gone"), of: .local)
                }
            }
            try bench.store { $0.record.biometricCleanup = names }
            #expect(try await bench.enrolRefusal(FakeTokens.first) == "device_key.full")
            #expect(try await bench.route().waiting.count == AskDeviceKey.waitingLimit)
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(RemoveDeviceKey(lost: true), token: settings)
            #expect(try await bench.enrolRefusal(FakeTokens.first) == nil)
        }
    }
}
