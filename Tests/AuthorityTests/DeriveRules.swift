import AuthorityMessages
import Crypto
import Loop
import Secrets
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// Keys and leave go to the service they belong to, under a session that allows just that.
@Suite(.timeLimit(.minutes(1)))
struct DeriveRules {
    @Test func aResourceSessionGivesTheKeysOfItsNamespace() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            let domains = ["telegram.wallet.dek.v1", "coffer.wallet.identity.v1"]
            let answer = try await bench.answer(bench.derive(token, domains: domains))
            #expect(answer.reply == .init(leaseMilliseconds: 250, reusable: true))
            let session = try #require(bench.service.registry.onlySession)
            let accessKey = try #require(session.accessKey)
            for (key, domain) in zip(answer.attachments, domains) {
                let wanted = try HKDF.sha256(
                    key: accessKey.bytes, salt: Array(Namespace.main.text.utf8),
                    info: Array(domain.utf8), count: 32)
                #expect(key.bytes.open == wanted.open)
            }
            #expect(answer.attachments.count == 2)
            let again = try await bench.answer(bench.derive(token, domains: []))
            #expect(again.attachments.isEmpty)
        }
    }

    @Test func whoeverIsNotMeantGetsNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            func refused(_ pending: Pending<Derive>) async throws -> String? {
                try await bench.refusal(of: pending)
            }
            #expect(try await refused(bench.derive(token, as: .shares)) == "session.invalid")
            #expect(
                try await refused(bench.derive(token, holder: .otherApp)) == "session.invalid")
            #expect(try await refused(bench.derive(token, as: .app)) == "bus.forbidden")
            #expect(
                try await refused(bench.derive(token, owner: .other)) == "session.invalid")
            #expect(try await refused(bench.derive([])) == "session.invalid")
            #expect(
                try await refused(bench.derive(token, domains: ["telegram.share.v1"]))
                    == "bus.forbidden")
            #expect(
                try await refused(bench.derive(token, namespace: .side))
                    == "credential.not_authorised")
            #expect(
                try await refused(bench.derive(token, .reveal, wallet: .first))
                    == "credential.not_authorised")
            #expect(
                try await refused(bench.derive(token, .settings, domains: []))
                    == "credential.not_authorised")
            var forged = token
            forged[forged.count / 2] ^= 1
            #expect(try await refused(bench.derive(forged)) == "session.invalid")
        }
    }

    @Test func aPhraseToShareOutNamesBothServices() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.token(
                .reveal(.main, .first), audience: [.walletVault, .backupShares])
            // Backup-shares has no domain of its own and asks for leave only.
            #expect(
                try await bench.refusal(
                    of: bench.derive(token, .reveal, wallet: .first, as: .shares))
                    == "bus.forbidden")
            let answer = try await bench.answer(
                bench.derive(token, .reveal, wallet: .first, as: .vault))
            #expect(answer.attachments.count == 1)
        }
    }

    @Test(arguments: [
        (Scope.sign(.main, .first), Purpose.sign), (.reveal(.main, .first), .reveal),
    ])
    func aProofServesItsWalletOnce(_ scope: Scope, _ purpose: Purpose) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.token(scope, audience: [.walletVault])
            for wrong in [
                bench.derive(token, purpose, wallet: .second), bench.derive(token, purpose),
                bench.derive(token, purpose, namespace: .side, wallet: .first),
                bench.derive(token, .open, wallet: .first),
            ] {
                #expect(try await bench.refusal(of: wrong) == "credential.not_authorised")
            }
            let answer = try await bench.answer(bench.derive(token, purpose, wallet: .first))
            #expect(answer.reply == .init(leaseMilliseconds: 250, reusable: false))
            #expect(
                try await bench.refusal(of: bench.derive(token, purpose, wallet: .first))
                    == "session.ended")
        }
    }

    @Test func twoUsesOfAProofAtOnceAreOne() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.token(.sign(.main, .first), audience: [.walletVault])
            let uses = [
                bench.derive(token, .sign, wallet: .first),
                bench.derive(token, .sign, wallet: .first),
            ]
            var given = 0
            for use in uses where try await bench.refusal(of: use) == nil { given += 1 }
            #expect(given == 1)
        }
    }

    @Test func aSettingsSessionAllowsDestructionAndNoKey() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.token(.settings, audience: [.walletVault])
            let answer = try await bench.answer(bench.derive(token, .settings, domains: []))
            #expect(answer.reply == .init(leaseMilliseconds: 250, reusable: false))
            #expect(
                try await bench.refusal(of: bench.derive(token, .settings))
                    == "credential.not_authorised")
            #expect(
                try await bench.refusal(of: bench.derive(token, .open))
                    == "credential.not_authorised")
            let own = try await bench.settingsToken()
            #expect(
                try await bench.refusal(of: bench.derive(own, .settings, domains: []))
                    == "session.invalid")
        }
    }

    @Test func aResourceSessionSignsOnlyWhereTheOwnerSaidSo() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            #expect(
                try await bench.refusal(of: bench.derive(token, .sign, wallet: .first))
                    == "credential.not_authorised")
            let settings = try await bench.settingsToken()
            let set = try await bench.ask(SetSignPolicy(policy: .session), token: settings)
            #expect(set.reply.policy == .session)
            let answer = try await bench.answer(bench.derive(token, .sign, wallet: .first))
            #expect(answer.reply.reusable)
            _ = try await bench.ask(SetSignPolicy(policy: .proof), token: settings)
            #expect(
                try await bench.refusal(of: bench.derive(token, .sign, wallet: .first))
                    == "credential.not_authorised")
            #expect(try await bench.ask(AskSignPolicy()).reply.policy == .proof)
        }
    }

    @Test func aClosedGateOpensNoWallet() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            bench.service.registry.closeGate(of: .local)
            #expect(try await bench.refusal(of: bench.derive(token)) == "credential.locked")
            // Opening it again revives what was not revoked.
            _ = try await bench.unlock("1234")
            #expect(try await bench.refusal(of: bench.derive(token)) == nil)
        }
    }

    @Test func aCredentialThatMovedEndsTheSession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            try bench.store { $0.record.revision += 1 }
            #expect(try await bench.refusal(of: bench.derive(token)) == "session.ended")
            #expect(bench.service.registry.count == 0)
        }
    }

    /// A record that was exchanged may have any revision; it has not the same id.
    @Test func aCredentialOfAnotherIdEndsTheSession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            let settings = try await bench.settingsToken()
            try bench.store { $0.record.id = "00000000-0000-4000-8000-000000000009" }
            #expect(try await bench.refusal(of: bench.derive(token)) == "session.ended")
            #expect(try await bench.refusal(DisablePasscode(), token: settings) == "session.ended")
            #expect(bench.service.registry.count == 0)
        }
    }

    @Test func aServiceMayAskWhetherASessionLives() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            let check = CheckSession(holder: Peer.app.key)
            #expect(try await bench.refusal(check, as: .vault, token: token) == nil)
            #expect(
                try await bench.refusal(check, as: .shares, token: token) == "session.invalid")
            _ = try await bench.ask(Lock())
            #expect(
                try await bench.refusal(check, as: .vault, token: token) == "session.ended")
        }
    }
}

extension SessionRegistry {
    /// The session where there is exactly one.
    var onlySession: Session? { allSessions.count == 1 ? allSessions.first : nil }
}
