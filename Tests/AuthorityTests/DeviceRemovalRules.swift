import AuthorityMessages
import Loop
import Secrets
import Serving
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// How a token's route ends, and what is left of it.
@Suite(.timeLimit(.minutes(1)))
struct DeviceRemovalRules {
    @Test func removingCommitsFirstAndDeletesThen() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let resource = try await bench.deviceToken()
            let settings = try await bench.settingsToken()
            bench.tokens.heldAct = .delete
            let removal = bench.post(
                RemoveDeviceKey(lost: false), token: settings, secret: "4321")
            try await bench.run { bench.tokens.heldCount == 1 }
            #expect(try bench.stored()?.record.biometricAccount == nil)
            #expect(try await bench.refusal(of: bench.derive(resource)) == "session.ended")
            bench.tokens.letGo()
            #expect(try await bench.answer(removal).reply.removed)
            #expect(bench.tokens.objectCount(FakeTokens.first) == 0)
            #expect(try await bench.route() == .init(token: nil, form: nil, waiting: []))
            #expect(try await bench.deviceRefusal() == "device_key.none")
            // The settings session goes on.
            #expect(
                try await bench.refusal(SetSignPolicy(policy: .proof), token: settings) == nil)
        }
    }

    @Test func whatCannotBeDeletedWaitsForThePIN() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let settings = try await bench.settingsToken()
            let request = RemoveDeviceKey(lost: false)
            #expect(try await bench.ask(request, token: settings).reply.removed)
            #expect(try await bench.deviceRefusal() == "device_key.none")
            #expect(try await bench.route().waiting == [FakeTokens.first])
            try bench.restart()
            bench.service.retireBrokenEnrolments()
            #expect(try await bench.route().waiting == [FakeTokens.first])
            let again = try await bench.settingsToken()
            let reply = try await bench.ask(request, token: again, secret: "4321").reply
            #expect(!reply.removed)
            #expect(try await bench.route().waiting.isEmpty)
            #expect(bench.tokens.objectCount(FakeTokens.first) == 0)
        }
    }

    /// What takes protection away takes the route with it.
    @Test(arguments: ["protection", "passcode"])
    func whatTakesProtectionAwayTakesTheRoute(_ change: String) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.tokens.form = .ecdh
            try await bench.enrolled()
            let account = try #require(try bench.stored()?.record.biometricAccount)
            let sealed = Array("sealed \(account)".utf8)
            #expect(try bench.diskHolds(sealed))
            let settings = try await bench.settingsToken()
            if change == "protection" {
                _ = try await bench.ask(SetProtection(protection: false), token: settings)
            } else {
                _ = try await bench.ask(DisablePasscode(), token: settings)
            }
            #expect(try bench.stored()?.record.biometricCleanup == [account])
            #expect(try !bench.diskHolds(sealed))
            #expect(try await bench.deviceRefusal() == "device_key.none")
            #expect(try await bench.route().waiting == [FakeTokens.first])
            // With protection on again, nothing comes back by itself.
            if change == "protection" {
                _ = try await bench.ask(SetProtection(protection: true), token: settings)
            } else {
                try await bench.set()
            }
            #expect(try await bench.deviceRefusal() == "device_key.none")
            #expect(try await bench.enrolRefusal(FakeTokens.first) == nil)
            #expect(bench.tokens.objectCount(FakeTokens.first) == 1)
        }
    }

    @Test func aChangedPasscodeKeepsTheRoute() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(
                SetPasscode(passcodeKind: .digits4), token: settings, secret: "5678")
            #expect(try await bench.deviceRefusal() == nil)
        }
    }

    @Test func aResetRemembersWhatIsOnTokens() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.tokens.form = .rsa
            try await bench.enrolled()
            let account = try #require(try bench.stored()?.record.biometricAccount)
            let settings = try await bench.settingsToken()
            let begun = try await bench.ask(
                BeginRemoval(removalKind: .reset), token: settings
            ).reply
            #expect(try await bench.deviceRefusal() == "credential.removing")
            try await bench.wipe(begun.removal)
            _ = try await bench.ask(FinishRemoval(removal: begun.removal))
            #expect(try bench.stored()?.record.biometricCleanup == [account])
            #expect(try !bench.diskHolds(Array("sealed \(account)".utf8)))
            #expect(try await bench.deviceRefusal() == "device_key.none")
            try await bench.set()
            #expect(try await bench.enrolRefusal(FakeTokens.first) == nil)
            #expect(bench.tokens.objectCount(FakeTokens.first) == 1)
        }
    }

    @Test func aRemovedOwnerLeavesNothingHere() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let settings = try await bench.settingsToken()
            let begun = try await bench.ask(
                BeginRemoval(removalKind: .remove), token: settings
            ).reply
            try await bench.wipe(begun.removal, by: [.vault, .shares, .migration])
            _ = try await bench.ask(FinishRemoval(removal: begun.removal))
            #expect(try bench.service.store.deviceCopies(of: .local).isEmpty)
        }
    }
}
