import AuthorityMessages
import Glibc
import LimiterMessages
import MigrationMessages
import Secrets
import SharesMessages
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import CofferCore

/// Verbs that change or take over a credential, and what they do without a passcode.
@Suite struct CredentialVerbRules {
    private func open(_ kind: PasscodeKind?, unlocked: Bool) -> Fixture {
        let fixture = Fixture(secrets: ["1234", "1234"])
        fixture.services.on(AskStatus.self) { _, _ in
            var status = Fixture.status(kind: kind)
            status.protection = false
            status.unlocked = unlocked
            return Answer(status)
        }
        fixture.services.on(Unlock.self) { _, _ in Answer(Empty()) }
        fixture.services.on(OpenSession.self) { request, _ in
            Answer(
                .init(remainingMilliseconds: 300_000),
                attachments: [Fixture.secret("open \(request.scope)")])
        }
        fixture.services.on(ListWallets.self) { _, _ in
            Answer(ListWallets.Reply(wallets: [Fixture.wallet], more: false))
        }
        return fixture
    }

    @Test func anOwnerWithoutAPasscodeIsUnlockedWithoutAsking() throws {
        let fixture = open(nil, unlocked: false)
        _ = try fixture.run("unlock")
        #expect(fixture.person.asked.isEmpty)
        #expect(fixture.services.methods.contains(Unlock.method))
        #expect(fixture.keyring.kept.keys.contains { $0.hasSuffix(":main") })
    }

    @Test func unprotectedWalletsAreListedWithoutAskingOnceUnlocked() throws {
        let fixture = open(.digits4, unlocked: true)
        _ = try fixture.run("wallet", "list")
        #expect(fixture.person.asked.isEmpty)
        #expect(!fixture.services.methods.contains(Unlock.method))
        let locked = open(.digits4, unlocked: false)
        _ = try locked.run("wallet", "list")
        #expect(locked.person.asked == ["Passcode"])
        #expect(locked.services.seen(OpenSession.self).isEmpty)
    }

    /// Nobody typed one.
    @Test func noPasscodeIsCalledRightWhereThereIsNone() throws {
        let fixture = open(nil, unlocked: false)
        fixture.keyring.isForbidden = true
        let (report, _) = try fixture.run("unlock")
        #expect(!report.text.contains("passcode"))
    }

    /// A reset leaves an owner whom the authority alone knows, and nothing is to be moved aside.
    @Test(arguments: [nil, PasscodeKind.digits4])
    func onlyWhoLacksAServiceIsToBePurged(_ kind: PasscodeKind?) throws {
        let fixture = Fixture()
        fixture.services.on(ListOwners<Authority>.self) { _, _ in
            Answer(OwnersReply(owners: ["first"]))
        }
        fixture.services.on(ListOwners<Limiter>.self) { _, _ in Answer(OwnersReply(owners: [])) }
        fixture.services.on(ListOwners<Vault>.self) { _, _ in
            Answer(OwnersReply(owners: ["second"]))
        }
        fixture.services.on(ListOwners<Shares>.self) { _, _ in Answer(OwnersReply(owners: [])) }
        fixture.services.on(ListOwners<Migration>.self) { _, _ in
            Answer(OwnersReply(owners: []))
        }
        fixture.services.on(AskStatus.self) { _, _ in
            guard kind == nil else { throw CredentialFault.secretMissing.refusal }
            return Answer(Fixture.status(kind: nil))
        }
        let (report, _) = try fixture.run("owner", "list")
        #expect(report.text.contains("`coffer owner purge first`") == (kind != nil))
        #expect(report.text.contains("`coffer owner purge second`"))
        #expect(fixture.services.seen(AskStatus.self).map(\.header.owner.text) == ["first"])
    }

    @Test func theGateOfAPasscodeIsOpenedByItAlone() throws {
        let fixture = open(.digits4, unlocked: true)
        _ = try fixture.run("unlock")
        #expect(fixture.person.asked == ["Passcode"])
        #expect(fixture.services.seen(Verify.self).count == 1)
    }

    @Test func disablingProvesThePasscodeAndDropsWhatIsKept() throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        fixture.services.on(DisablePasscode.self) { _, _ in
            Answer(.init(credential: "C", revision: 3))
        }
        _ = try fixture.run("unlock")
        _ = try fixture.run("passcode", "disable")
        #expect(fixture.keyring.kept.isEmpty)
        let seen = try #require(fixture.services.seen(DisablePasscode.self).first)
        #expect(String(decoding: seen.token, as: UTF8.self).contains("managePasscode"))
    }

    @Test(arguments: [("on", true), ("off", false)])
    func protectionIsChangedInASettingsSession(_ word: String, _ protection: Bool) throws {
        let fixture = Fixture(secrets: ["1234"])
        fixture.services.on(SetProtection.self) { request, _ in
            Answer(.init(protection: request.protection, revision: 3))
        }
        let shown = try fixture.json("protection", word)
        #expect(try shown.bool("protection") == protection)
        let seen = try #require(fixture.services.seen(SetProtection.self).first)
        #expect(String(decoding: seen.token, as: UTF8.self).contains("settings"))
    }

    // MARK: Import

    private func importing(
        _ secret: [UInt8], _ reply: ImportCredential.Reply
    ) throws -> (Fixture, CommandFailure?) {
        let fixture = Fixture(secrets: ["1234"])
        fixture.services.on(AskStatus.self) { _, _ in
            var status = Fixture.status(kind: nil)
            status.credential = nil
            return Answer(status)
        }
        fixture.services.on(ImportCredential.self) { _, _ in Answer(reply) }
        let folder = try TemporaryFolder()
        try write(Array("{}\n".utf8), to: folder.path(of: "record"))
        try write(secret, to: folder.path(of: "device"))
        let failed = failure { () throws(CommandFailure) in
            _ = try fixture.run(
                "passcode", "import", "--record", folder.path(of: "record"), "--device-secret",
                folder.path(of: "device"))
        }
        return (fixture, failed)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        #expect(Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    private let imported = ImportCredential.Reply.imported(
        credential: "C", revision: 2, kind: .digits4, protection: true)

    @Test func aDeviceSecretIsTakenRawAndAsBase64() throws {
        // Its last byte looks like the end of a line.
        let secret = [UInt8](repeating: 7, count: 31) + [0x0A]
        for file in [
            secret, Base64.standard.encode(secret), Base64.standard.encode(secret) + [0x0A],
        ] {
            let (fixture, failed) = try importing(file, imported)
            #expect(failed == nil)
            let seen = try #require(fixture.services.seen(ImportCredential.self).first)
            #expect(seen.attachments == [Array("{}\n".utf8), secret, Array("1234".utf8)])
        }
        let (fixture, failed) = try importing([1, 2, 3], imported)
        #expect(failed?.exitCode == .usage && fixture.person.asked.isEmpty)
    }

    @Test func aWrongPasscodeOfARecordIsOne() throws {
        let (_, failed) = try importing([UInt8](repeating: 7, count: 32), .wrong)
        #expect(failed?.exitCode == .wrongPasscode)
    }

    @Test func anOwnerWithAPasscodeIsNotImportedOver() throws {
        let fixture = Fixture(secrets: ["1234"])
        let folder = try TemporaryFolder()
        try write([UInt8](repeating: 7, count: 32), to: folder.path(of: "both"))
        let failed = failure { () throws(CommandFailure) in
            _ = try fixture.run(
                "passcode", "import", "--record", folder.path(of: "both"), "--device-secret",
                folder.path(of: "both"))
        }
        #expect(failed?.code == "credential.exists")
        #expect(fixture.person.asked.isEmpty)
    }

    // MARK: Sessions

    @Test func sessionsAreListedAndEndedByTheBeginningOfTheirIds() throws {
        let fixture = Fixture()
        let ids = try [1, 2].map { byte in
            try #require(SessionID([UInt8](repeating: byte, count: 16)))
        }
        fixture.services.on(ListSessions.self) { _, _ in
            Answer(
                ListSessions.Reply(
                    sessions: ids.map { id in
                        ListSessions.Entry(
                            session: id, scope: .settings, origin: .passcode,
                            lifetime: .standard, remainingMilliseconds: 5_000, peer: "phone")
                    }, more: 1))
        }
        var ended: [SessionID] = []
        fixture.services.on(EndSession.self) { request, _ in
            ended.append(request.session)
            return Answer(RevokedReply(revoked: 1))
        }
        let text = try fixture.run("session", "list").report.text
        #expect(text.contains(ids[0].text) && text.contains("phone") && text.contains("1 other"))
        _ = try fixture.run("session", "revoke", "01")
        _ = try fixture.run("session", "revoke", ids[1].text)
        #expect(ended == ids)
        for unknown in ["03", "0"] {
            let failed = failure { () throws(CommandFailure) in
                _ = try fixture.run("session", "revoke", unknown)
            }
            #expect(failed?.exitCode == .usage)
        }
    }

    // MARK: Reset

    private func resetting(_ status: AskStatus.Reply, lines: [String] = []) throws -> Fixture {
        let fixture = Fixture(secrets: ["1234"], lines: lines)
        let removal = try #require(RemovalID([UInt8](repeating: 5, count: 16)))
        fixture.services.on(AskStatus.self) { _, _ in Answer(status) }
        fixture.services.on(BeginRemoval.self) { request, _ in
            Answer(.init(removal: removal, outstanding: request.removalKind.services))
        }
        fixture.services.on(WipeOwner<Vault>.self) { _, _ in Answer(Empty()) }
        fixture.services.on(WipeOwner<Shares>.self) { _, _ in Answer(Empty()) }
        fixture.services.on(WipeOwner<Migration>.self) { _, _ in Answer(Empty()) }
        fixture.services.on(FinishRemoval.self) { _, _ in Answer(Empty()) }
        return fixture
    }

    @Test func aResetGoesThroughItsStepsInTheirOrder() throws {
        let fixture = try resetting(Fixture.status(), lines: ["local"])
        _ = try fixture.run("owner", "reset")
        let steps = fixture.services.methods.filter {
            ![AskStatus.method, Verify.method].contains($0)
        }
        #expect(
            steps == [
                BeginRemoval.method, "vault.wipe", "migration.wipe", FinishRemoval.method,
            ])
        let begin = try #require(fixture.services.seen(BeginRemoval.self).first)
        #expect(String(decoding: begin.token, as: UTF8.self).contains("settings"))
    }

    @Test func aRemovalWipesEveryService() throws {
        let fixture = try resetting(Fixture.status())
        _ = try fixture.run("owner", "remove", "--yes")
        #expect(
            fixture.services.methods.filter { $0.hasSuffix(".wipe") }.sorted()
                == ["migration.wipe", "shares.wipe", "vault.wipe"])
    }

    @Test func anotherNameDestroysNothing() throws {
        let fixture = try resetting(Fixture.status(), lines: ["lokal"])
        let failed = failure { () throws(CommandFailure) in
            _ = try fixture.run("owner", "reset")
        }
        #expect(failed?.code == "coffer.not_confirmed")
        #expect(fixture.services.methods == [AskStatus.method])
    }

    @Test func oneThatBrokeOffIsFinishedWithoutThePasscode() throws {
        var status = Fixture.status()
        status.removal = .reset
        let fixture = try resetting(status)
        _ = try fixture.run("owner", "reset")
        #expect(fixture.person.asked.isEmpty)
        #expect(fixture.services.seen(BeginRemoval.self).first?.token == [])
        fixture.services.on(WipeOwner<Vault>.self) { _, _ in throw StorageFault.residue.refusal }
        let failed = failure { () throws(CommandFailure) in
            _ = try fixture.run("owner", "reset")
        }
        #expect(failed?.code == "storage.residue")
        #expect(failed?.refusal.message.contains("run it again") == true)
    }

    // MARK: A fresh reset

    @Test func aFreshResetAsksForNothing() throws {
        let fixture = try resetting(Fixture.status(kind: nil))
        let removal = try #require(RemovalID([UInt8](repeating: 6, count: 16)))
        fixture.services.on(BeginFreshReset.self) { _, _ in
            Answer(.begun(removal: removal, outstanding: [.migration]))
        }
        let shown = try fixture.json("owner", "reset", "--fresh")
        #expect(try shown.string("done") == "reset")
        #expect(fixture.person.asked.isEmpty)
        #expect(
            fixture.services.methods == [
                BeginFreshReset.method, "migration.wipe", FinishRemoval.method,
            ])
    }

    @Test(arguments: [
        ([ServiceName.credentialAuthority], "without --fresh"),
        ([.attemptLimiter, .walletVault], "`coffer owner purge local`"),
    ])
    func whoKnowsTheOwnerIsNamed(_ services: [ServiceName], _ wayOut: String) throws {
        let fixture = try resetting(Fixture.status())
        fixture.services.on(BeginFreshReset.self) { _, _ in Answer(.known(to: services)) }
        let failed = try #require(
            failure { () throws(CommandFailure) in
                _ = try fixture.run("owner", "reset", "--fresh")
            })
        #expect(failed.code == "coffer.known_owner" && failed.exitCode == .refused)
        for service in services { #expect(failed.refusal.message.contains(service.text)) }
        #expect(failed.refusal.message.contains(wayOut))
        let shown = try JSONDocument(failed.json()).object()
        #expect(try shown.strings("services") == services.map(\.text))
        #expect(fixture.services.methods == [BeginFreshReset.method])
    }
}
