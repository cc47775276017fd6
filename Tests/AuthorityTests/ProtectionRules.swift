import AuthorityMessages
import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// Removing the passcode and turning protection on or off: one write each, by who may.
@Suite(.timeLimit(.minutes(1)))
struct ProtectionRules {
    private static let off = SetProtection(protection: false)
    private static let on = SetProtection(protection: true)

    @Test(arguments: [Scope.settings, .managePasscode])
    func aRemovedPasscodeLeavesTheSameKeyAndNoSession(_ scope: Scope) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let resource = try await bench.resourceToken()
            let before = try await bench.answer(bench.derive(resource)).attachments
            _ = try await bench.unlock("9999")
            let token = try await bench.token(scope, audience: [])
            _ = try await bench.unlock("9999")
            let old = try #require(try bench.stored())
            let reply = try await bench.ask(DisablePasscode(), token: token).reply
            #expect(reply == .init(credential: old.record.id, revision: old.record.revision + 1))
            let record = try #require(try bench.stored()).record
            #expect(record.passcode == nil && !record.protection && record.managedPasscode)
            #expect(record.unprotectedKey?.bytes.count == CredentialRecord.accessKeyBytes)
            #expect(bench.service.registry.count == 0)
            #expect(try bench.failed() == 0)
            let status = try await bench.ask(AskStatus()).reply
            #expect(status.kind == nil && !status.protection && status.tries.isEmpty)
            #expect(
                try await bench.refusal(Verify(scope: scope, audience: []), secret: "1234")
                    == "credential.no_passcode")
            let open = try await bench.unprotectedToken(.resource(.main))
            let after = try await bench.answer(bench.derive(open)).attachments
            #expect(before[0].bytes.open == after[0].bytes.open)
            try await bench.set("5678")
            #expect(try #require(try bench.stored()).record.protection)
            #expect(
                try await bench.refusal(bench.deriveRequest(), as: .vault, token: open)
                    == "session.ended")
            let again = try await bench.token(
                .resource(.main), audience: [.walletVault], code: "5678")
            let last = try await bench.answer(bench.derive(again)).attachments
            #expect(before[0].bytes.open == last[0].bytes.open)
        }
    }

    @Test(arguments: [DrawChallenge.method, Prove.method])
    func aRemovalDoesNotHangOnTheLimiter(_ method: String) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            _ = try await bench.unlock("9999")
            bench.way.mishaps = [(method, .lostRequest)]
            #expect(try await bench.refusal(DisablePasscode(), token: token) == nil)
            #expect(try #require(try bench.stored()).record.passcode == nil)
            #expect(try bench.failed() == 1)
            try await bench.set("5678")
            #expect(try bench.failed() == 0)
        }
    }

    @Test func aRemovalPutsTheSignPolicyBack() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            _ = try await bench.ask(SetSignPolicy(policy: .session), token: token)
            _ = try await bench.ask(DisablePasscode(), token: token)
            #expect(try await bench.ask(AskSignPolicy()).reply.policy == .proof)
        }
    }

    @Test func protectionGoesOffAndOnInOneSettingsSession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let resource = try await bench.resourceToken()
            let settings = try await bench.settingsToken()
            let key = try #require(bench.service.registry.settingsSession?.accessKey)
            bench.clock.advance(seconds: 100)
            #expect(
                try await bench.ask(Self.off, token: settings).reply
                    == .init(protection: false, revision: 3))
            #expect(bench.service.registry.count == 1)
            var record = try #require(try bench.stored()).record
            #expect(!record.protection && record.passcode != nil)
            #expect(record.unprotectedKey?.bytes.open == key.bytes.open)
            #expect(
                try await bench.refusal(bench.deriveRequest(), as: .vault, token: resource)
                    == "session.ended")
            #expect(
                try await bench.ask(Self.on, token: settings).reply
                    == .init(protection: true, revision: 4))
            record = try #require(try bench.stored()).record
            #expect(record.protection && record.unprotectedKey == nil)
            #expect(!bench.authority.group.store.erasureOwed)
            bench.clock.advance(seconds: 199)
            #expect(try await bench.refusal(Self.on, token: settings) == nil)
            bench.clock.advance(seconds: 1)
            #expect(try await bench.refusal(Self.on, token: settings) == "session.ended")
        }
    }

    /// Subscribers forget the sessions that ended, by name, and not the one that goes on.
    @Test func theRetainedSessionIsNotAmongTheNews() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.resourceToken()
            _ = try await bench.resourceToken(.side)
            let settings = try await bench.settingsToken()
            let kept = bench.service.registry.settingsSession?.claims.session
            let before = bench.events.events.count
            _ = try await bench.ask(Self.off, token: settings)
            let news = bench.events.events[before...].filter { $0.kind != .heartbeat }
            #expect(news.map(\.kind) == [.revoked, .revoked])
            #expect(kept != nil && !news.contains { $0.session == kept })
        }
    }

    @Test func whatIsSoAlreadyStaysAsItIs() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let resource = try await bench.resourceToken()
            let settings = try await bench.settingsToken()
            #expect(
                try await bench.ask(Self.on, token: settings).reply
                    == .init(protection: true, revision: 2))
            #expect(try await bench.answer(bench.derive(resource)).attachments.count == 1)
        }
    }

    /// A setting that is so already is no way round the leave to change it.
    @Test func whatIsSoAlreadyTakesTheSameLeave() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            #expect(try await bench.refusal(Self.on) == "session.invalid")
            for scope in [Scope.managePasscode, .appUnlock] {
                let token = try await bench.token(scope, audience: [])
                #expect(
                    try await bench.refusal(Self.on, token: token) == "credential.not_authorised")
            }
            let resource = try await bench.resourceToken()
            #expect(
                try await bench.refusal(Self.on, token: resource) == "credential.not_authorised")
        }
    }

    /// A record that came with ways of a biometric sensor keeps none of them, in the same write.
    @Test(arguments: [true, false])
    func whatTakesProtectionAwayTakesBiometricWaysToo(_ isRemoved: Bool) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try bench.store {
                $0.record.biometricAccount = "biometric.A"
                $0.record.pendingBiometricAccount = "biometric.B"
                $0.record.biometricCleanup = ["biometric.C"]
            }
            let settings = try await bench.settingsToken()
            let refused =
                isRemoved
                ? try await bench.refusal(DisablePasscode(), token: settings)
                : try await bench.refusal(Self.off, token: settings)
            #expect(refused == nil)
            let record = try #require(try bench.stored()).record
            #expect(record.revision == 3 && !record.protection)
            #expect(record.biometricAccount == nil && record.pendingBiometricAccount == nil)
            #expect(
                record.biometricCleanup.sorted() == ["biometric.A", "biometric.B", "biometric.C"])
        }
    }

    @Test func whoMayNotChangesNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            #expect(try await bench.refusal(Self.off) == "session.invalid")
            #expect(try await bench.refusal(DisablePasscode()) == "session.invalid")
            let manage = try await bench.token(.managePasscode, audience: [])
            #expect(try await bench.refusal(Self.off, token: manage) == "credential.not_authorised")
            for scope in [Scope.resource(.main), .sign(.main, .first), .reveal(.main, .first)] {
                let token = try await bench.token(scope, audience: [.walletVault])
                for refused in [
                    try await bench.refusal(Self.off, token: token),
                    try await bench.refusal(DisablePasscode(), token: token),
                ] { #expect(refused == "credential.not_authorised") }
            }
            let settings = try await bench.settingsToken()
            #expect(
                try await bench.refusal(Self.off, as: .otherApp, token: settings)
                    == "session.invalid")
            #expect(
                try await bench.refusal(DisablePasscode(), as: .extension, token: settings)
                    == "bus.forbidden")
            #expect(try #require(try bench.stored()).record.revision == 2)
        }
    }

    @Test func changesOfOneOwnerRunOneAtATime() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            bench.kdf.isHeld = true
            let change = bench.post(
                SetPasscode(passcodeKind: .digits4), token: token, secret: "5678")
            try await bench.settle()
            #expect(try await bench.refusal(Self.off, token: token) == "credential.busy_changing")
            #expect(
                try await bench.refusal(DisablePasscode(), token: token)
                    == "credential.busy_changing")
            bench.kdf.letGo()
            #expect(try await bench.refusal(of: change) == nil)
        }
    }

    /// What ends a session while the change is written is not undone by the change.
    @Test func aLockDuringTheCommitEndsTheRetainedSession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            let change = bench.post(Self.off, token: settings)
            await LoopHarness.settle()
            let lock = bench.post(Lock())
            #expect(try await bench.refusal(of: change) == nil)
            #expect(try await bench.refusal(of: lock) == nil)
            #expect(bench.service.registry.count == 0)
            #expect(try await bench.refusal(Self.on, token: settings) == "session.ended")
        }
    }

    @Test func aKillBeforeTheCommitLeavesTheEarlierState() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            _ = bench.post(DisablePasscode(), token: token)
            try await bench.runUntilWritten()
            try bench.restart()
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func nothingOfTheOpenKeyIsLeftWhereProtectionIsOn() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            let key = try #require(bench.service.registry.settingsSession?.accessKey)
            let text = Base64.standard.encode(key.bytes.open)
            _ = try await bench.ask(Self.off, token: settings)
            #expect(try bench.diskHolds(text))
            _ = try await bench.ask(Self.on, token: settings)
            #expect(try !bench.diskHolds(text))
        }
    }
}

/// Sessions of owners whose access key needs no passcode.
@Suite(.timeLimit(.minutes(1)))
struct UnprotectedSessionRules {
    @Test func anOwnerWithoutAPasscodeIsUnlockedWithoutOne() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let open = OpenSession(scope: .resource(.main), audience: [.walletVault])
            #expect(try await bench.refusal(open) == "credential.locked")
            #expect(try await bench.refusal(Unlock()) == nil)
            #expect(try await bench.ask(open).reply.remainingMilliseconds == 300_000)
            _ = try await bench.ask(Lock())
            #expect(bench.service.registry.count == 0)
            #expect(try await bench.refusal(open) == "credential.locked")
            try bench.restart()
            #expect(try await bench.refusal(open) == "credential.locked")
            let record = try #require(try bench.stored()).record
            #expect(record.managedPasscode && record.passcode == nil && !record.protection)
        }
    }

    @Test func aPasscodeIsNotGoneRound() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let open = OpenSession(scope: .resource(.main), audience: [.walletVault])
            #expect(try await bench.refusal(Unlock()) == "credential.not_authorised")
            #expect(try await bench.refusal(open) == "credential.not_authorised")
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(SetProtection(protection: false), token: settings)
            #expect(try await bench.refusal(Unlock()) == "credential.not_authorised")
            #expect(try await bench.refusal(open) == nil)
            _ = try await bench.ask(Lock())
            #expect(try await bench.refusal(open) == "credential.locked")
            _ = try await bench.unlock("1234")
            #expect(try await bench.refusal(open) == nil)
        }
    }

    @Test func itIsNeverPromoted() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(SetProtection(protection: false), token: settings)
            for scope in [Scope.settings, .managePasscode, .appUnlock, .recover] {
                #expect(
                    try await bench.refusal(OpenSession(scope: scope, audience: []))
                        == "credential.not_authorised")
            }
            let token = try await bench.unprotectedToken(.resource(.main))
            let set = SetPasscode(passcodeKind: .digits4)
            #expect(
                try await bench.refusal(set, token: token, secret: "5678")
                    == "credential.not_authorised")
            for refused in [
                try await bench.refusal(DisablePasscode(), token: token),
                try await bench.refusal(SetProtection(protection: true), token: token),
                try await bench.refusal(SetSignPolicy(policy: .session), token: token),
                try await bench.refusal(of: bench.derive(token, .settings, domains: [])),
                try await bench.refusal(of: bench.derive(token, .sign, wallet: .first)),
                try await bench.refusal(of: bench.derive(token, .reveal, wallet: .first)),
            ] { #expect(refused == "credential.not_authorised") }
        }
    }

    @Test func anUnlockThatALockOvertookOpensNoGate() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.way.heldMethod = DrawChallenge.method
            let unlock = bench.post(Unlock())
            try await bench.settle()
            #expect(bench.way.heldCount == 1)
            _ = try await bench.ask(Lock())
            bench.way.letGo()
            #expect(try await bench.refusal(of: unlock) == "credential.stale")
            #expect(!bench.service.registry.isGateOpen(of: .local))
            _ = try await bench.ask(Unlock())
            #expect(bench.service.registry.isGateOpen(of: .local))
        }
    }

    @Test func proofsServeOnceWithoutAPasscodeToo() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            _ = try await bench.ask(Unlock())
            for (scope, purpose) in [
                (Scope.sign(.main, .first), Purpose.sign), (.reveal(.main, .first), .reveal),
            ] {
                let token = try await bench.unprotectedToken(scope)
                #expect(
                    try await bench.refusal(of: bench.derive(token, purpose, wallet: .second))
                        == "credential.not_authorised")
                #expect(
                    try await bench.refusal(of: bench.derive(token, purpose, wallet: .first))
                        == nil)
                #expect(
                    try await bench.refusal(of: bench.derive(token, purpose, wallet: .first))
                        == "session.ended")
            }
        }
    }

    @Test func anOwnerWhomOnlyTheLimiterKnowsGetsNoRecord() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let database = bench.authority.group.store
            try bench.authority.group.write { _ = try database.run("DELETE FROM credentials") }
            try bench.authority.endTurn()
            #expect(try await bench.refusal(Unlock()) == "credential.missing")
            #expect(
                try await bench.refusal(
                    OpenSession(scope: .resource(.main), audience: [.walletVault]))
                    == "credential.missing")
            #expect(try bench.stored() == nil)
        }
    }

    @Test func extensionsAndOperatorsGetNone() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            _ = try await bench.ask(Unlock())
            let open = OpenSession(scope: .resource(.main), audience: [.walletVault])
            for peer in [Peer.extension, .operator, .vault] {
                #expect(try await bench.refusal(open, as: peer) == "bus.forbidden")
                #expect(try await bench.refusal(Unlock(), as: peer) == "bus.forbidden")
            }
        }
    }
}

extension Bench {
    /// A session without a passcode, and its token.
    func unprotectedToken(_ scope: Scope) async throws -> [UInt8] {
        if try stored()?.record.passcode == nil { _ = try await ask(Unlock()) }
        let answer = try await ask(OpenSession(scope: scope, audience: [.walletVault]))
        guard let token = answer.attachments.first else { throw NoSession() }
        return token.bytes.withBytes { Array($0) }
    }

    func deriveRequest() -> Derive {
        Derive(
            namespace: .main, domains: ["telegram.wallet.dek.v1"], purpose: .open, wallet: nil,
            holder: Peer.app.key)
    }
}

extension SessionRegistry {
    /// The one session of settings.
    var settingsSession: Session? { allSessions.first { $0.claims.scope == .settings } }
}
