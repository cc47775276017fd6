import AuthorityMessages
import Glibc
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import CofferCore

@Suite struct SessionRules {
    private func listing(_ fixture: Fixture, refusing refused: [UInt8]? = nil) {
        fixture.services.on(ListWallets.self) { _, token in
            if token == refused { throw SessionFault.ended.refusal }
            return Answer(ListWallets.Reply(wallets: [Fixture.wallet], more: false))
        }
    }

    @Test func unlockKeepsTheTokenForAsLongAsTheSessionLives() throws {
        let fixture = Fixture(secrets: ["1234"])
        let (report, _) = try fixture.run("unlock")
        #expect(report.text.contains("unlocked for 300 s"))
        let token = fixture.keyring.kept.first { $0.key.hasSuffix(":local:main") }
        #expect(token?.value.seconds == 300)
        listing(fixture)
        _ = try fixture.run("wallet", "list")
        #expect(fixture.person.asked == ["Passcode"])
        #expect(fixture.services.seen(ListWallets.self).first?.token == token?.value.value)
        #expect(fixture.services.seen(Revoke.self).isEmpty)
    }

    @Test func aPasscodeThatIsHandedOverIsTriedEvenWhereASessionIsKept() throws {
        let fixture = Fixture(secrets: ["1234"])
        _ = try fixture.run("unlock")
        listing(fixture)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        _ = Array("9999".utf8).withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
        close(ends[1])
        _ = try fixture.run("wallet", "list", "--passcode-fd", "\(ends[0])")
        #expect(fixture.services.seen(Verify.self).last?.attachments == [Array("9999".utf8)])
        #expect(fixture.services.seen(Verify.self).count == 2)
    }

    @Test func whereNobodyCanBeAskedTheOwnerIsLockedAndTheLineIsNotWrong() {
        let passcode = SecretQuestion(
            description: "Needed.", prompt: "Passcode", isNew: false,
            option: .passcodeDescriptor)
        #expect(passcode.nobodyToAsk.exitCode == .notAuthorised)
        #expect(!passcode.nobodyToAsk.refusal.message.contains("coffer unlock"))
        #expect(passcode.nobodyToAsk.refusal.message.contains("give it with --passcode-fd N"))
        var spared = passcode
        spared.isSparedByUnlock = true
        #expect(spared.nobodyToAsk.exitCode == .notAuthorised)
        #expect(spared.nobodyToAsk.refusal.message.contains("run `coffer unlock` on one first"))
        let phrase = SecretQuestion(
            description: "Needed.", prompt: "Phrase", isNew: false, option: .phraseDescriptor)
        #expect(phrase.nobodyToAsk.exitCode == .usage)
    }

    /// What `coffer unlock` keeps is for the vault alone.
    @Test(arguments: [
        (["wallet", "list"], true), (["backup", "list"], false), (["backup", "requests"], false),
        (["backup", "cancel", String(repeating: "0", count: 32)], false),
        (["holder", "remove", "anna"], false), (["unlock"], false),
    ])
    func unlockIsNamedOnlyWhereItSparesThePasscode(_ words: [String], _ isSpared: Bool) throws {
        let fixture = Fixture()
        let run = try fixture.prepare(words)
        _ = failure { () throws(CommandFailure) in _ = try run.invocation.verb.run(run) }
        #expect(fixture.person.sparedByUnlock == [isSpared])
    }

    @Test(arguments: [BusFault.lost, .expired])
    func aCheckWhoseAnswerIsLostLeavesAnAttemptAtMostAndNoKeyToAskWith(_ fault: BusFault) throws {
        let fixture = Fixture(secrets: ["1234"])
        fixture.services.on(Verify.self) { _, _ in throw fault }
        let failed = try #require(
            failure { () throws(CommandFailure) in _ = try fixture.run("unlock") })
        #expect(failed.code == fault.rawValue)
        #expect(failed.exitCode == .unreachable && failed.refusal.outcome == .unknown)
        let told = failed.refusal.message
        #expect(told.contains("Nothing was changed, but one attempt may have been counted"))
        #expect(told.contains("run this again") && !told.contains("key"))
    }

    @Test func whereTheKeyringIsForbiddenItIsSaidAndEveryVerbAsks() throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        fixture.keyring.isForbidden = true
        let (_, notes) = try fixture.run("unlock")
        #expect(notes.contains { $0.contains("keyring") })
        listing(fixture)
        _ = try fixture.run("wallet", "list")
        #expect(fixture.person.asked.count == 2)
        // Nobody has the tokens any more, so the sessions are ended.
        #expect(fixture.services.seen(Revoke.self).count == 2)
    }

    @Test func aKeptSessionThatIsOverIsDroppedAndThePasscodeAskedForOnce() throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        _ = try fixture.run("unlock")
        let old = try #require(
            fixture.keyring.kept.first { $0.key.hasSuffix(":main") }?.value.value)
        var refused = false
        fixture.services.on(ListWallets.self) { _, token in
            if token == old, !refused {
                refused = true
                throw SessionFault.ended.refusal
            }
            return Answer(ListWallets.Reply(wallets: [], more: false))
        }
        _ = try fixture.run("wallet", "list")
        #expect(fixture.person.asked.count == 2)
        #expect(!fixture.keyring.kept.keys.contains { $0.hasSuffix(":main") })
        #expect(fixture.services.seen(ListWallets.self).count == 2)
    }

    @Test func aRefusalThatHasNothingToDoWithTheSessionKeepsIt() throws {
        let fixture = Fixture(secrets: ["1234"])
        _ = try fixture.run("unlock")
        fixture.services.on(CheckWallet.self) { _, _ in throw VaultFault.envelopeDamaged.refusal }
        let failed = failure { () throws(CommandFailure) in
            _ = try fixture.run("wallet", "check", Fixture.wallet.wallet.text)
        }
        #expect(failed?.exitCode == .damaged)
        #expect(fixture.keyring.kept.keys.contains { $0.hasSuffix(":main") })
        #expect(fixture.person.asked.count == 1)
    }

    @Test func ownersAndNamespacesHaveTokensOfTheirOwn() throws {
        let fixture = Fixture(secrets: ["1", "2", "3"])
        _ = try fixture.run("unlock")
        _ = try fixture.run("unlock", "--namespace", "other")
        _ = try fixture.run("unlock", "--owner", "bob")
        #expect(fixture.keyring.kept.keys.filter { $0.hasSuffix(":main") }.count == 2)
        #expect(fixture.keyring.kept.keys.filter { $0.hasSuffix(":other") }.count == 1)
    }

    @Test func lockDropsTheTokensOfEveryNamespaceOfTheOwnerAlone() throws {
        let fixture = Fixture(secrets: ["1", "2", "3"])
        fixture.services.on(Lock.self) { _, _ in Answer(RevokedReply(revoked: 2)) }
        _ = try fixture.run("unlock")
        _ = try fixture.run("unlock", "--namespace", "other")
        _ = try fixture.run("unlock", "--owner", "bob")
        let (report, _) = try fixture.run("lock")
        #expect(report.text.contains("2 sessions"))
        #expect(fixture.keyring.kept.keys.allSatisfy { $0.contains(":bob") })
        #expect(fixture.keyring.kept.count == 2)
    }

    @Test func lockDropsTheTokensEvenWithoutTheAuthority() throws {
        let fixture = Fixture(secrets: ["1"])
        _ = try fixture.run("unlock")
        let failed = failure { () throws(CommandFailure) in _ = try fixture.run("lock") }
        #expect(failed?.exitCode == .unreachable)
        #expect(fixture.keyring.kept.isEmpty)
    }

    @Test func aWrongPasscodeEndsWithThreeAndSaysHowOftenAndHowLong() throws {
        let fixture = Fixture(secrets: ["9999"])
        fixture.services.on(Verify.self) { _, _ in
            Answer(.wrong(failed: 6, remainingMilliseconds: 60_000))
        }
        let failed = failure { () throws(CommandFailure) in _ = try fixture.run("unlock") }
        #expect(failed?.exitCode == .wrongPasscode)
        #expect(failed?.refusal.message.contains("6 attempts are counted") == true)
        #expect(failed?.refusal.retryAfterMilliseconds == 60_000)
        #expect(fixture.keyring.kept.isEmpty)
    }

    @Test func inACooldownNobodyIsAskedAndNothingTried() {
        let fixture = Fixture(secrets: ["1234"])
        fixture.services.on(AskStatus.self) { _, _ in Answer(Fixture.status(waiting: 42_000)) }
        for line in [["unlock"], ["passcode", "change"], ["sign-policy", "session"]] {
            let failed = failure { () throws(CommandFailure) in
                let run = try fixture.prepare(line)
                _ = try run.invocation.verb.run(run)
            }
            #expect(failed?.exitCode == .coolingDown)
            #expect(failed?.refusal.retryAfterMilliseconds == 42_000)
        }
        #expect(fixture.person.asked.isEmpty)
        #expect(fixture.services.seen(Verify.self).isEmpty)
    }

    @Test func anOwnerWithoutAPasscodeIsToldBeforeBeingAsked() {
        let fixture = Fixture(secrets: ["1234"])
        fixture.services.on(AskStatus.self) { _, _ in Answer(Fixture.status(kind: nil)) }
        let failed = failure { () throws(CommandFailure) in _ = try fixture.run("unlock") }
        #expect(failed?.code == "credential.no_passcode")
        #expect(fixture.person.asked.isEmpty)
    }

    @Test func failedAttemptsAreShownAtTheNextRightOne() throws {
        let fixture = Fixture(secrets: ["1234"])
        fixture.verifies(failedBefore: 2)
        let (_, notes) = try fixture.run("unlock")
        #expect(notes.contains { $0.contains("2 attempts have failed") })
        let object = try { () throws in
            let other = Fixture(secrets: ["1234"])
            other.verifies(failedBefore: 2)
            return try other.json("unlock")
        }()
        #expect(try object.uint64("failed_before") == 2)
        #expect(try object.strings("notes").count == 1)
    }

    @Test func triesAreShownWithTheirTimesAndPeers() throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        let tries = [
            FailedTry(atMilliseconds: 1_700_000_000_000, peer: "phone"),
            FailedTry(atMilliseconds: 1_700_000_061_999, peer: "lap\u{202E}top"),
        ]
        fixture.services.on(Verify.self) { _, _ in
            Answer(
                .verified(remainingMilliseconds: 300_000, failedBefore: 9, tries: tries),
                attachments: [Fixture.secret("token")])
        }
        let (_, notes) = try fixture.run("unlock")
        #expect(
            notes == [
                "9 attempts have failed since the last right passcode, the newest: "
                    + "2023-11-14 22:13:20 UTC from phone; 2023-11-14 22:14:21 UTC from lap?top."
            ])
        let told = try fixture.json("unlock").objects("tries")
        #expect(try told.map { try $0.string("peer") } == tries.map(\.peer))
        fixture.services.on(AskStatus.self) { _, _ in
            var status = Fixture.status()
            status.tries = tries
            return Answer(status)
        }
        let text = try fixture.run("passcode", "status").report.text
        #expect(text.contains("2023-11-14 22:13:20 UTC from phone"))
    }

    @Test func failedAttemptsAreShownEvenWhereTheCommandFailsAfterwards() throws {
        let fixture = Fixture(secrets: ["1234"])
        fixture.verifies(failedBefore: 3)
        fixture.services.on(CheckWallet.self) { _, _ in throw VaultFault.envelopeDamaged.refusal }
        let folder = try TemporaryFolder()
        let file = open(folder.path(of: "out"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let run = try fixture.prepare(["wallet", "check", Fixture.wallet.wallet.text])
        let printer = Printer(wantsJSON: true, output: file, complaints: file)
        #expect(CofferCommand.finish(run, printer) == .damaged)
        let printed = try DescriptorInput.file(
            folder.path(of: "out"), limit: 4_096, named: .messageFile)
        let object = try JSONDocument(printed.dropLast()).object()
        #expect(try object.object("error").string("code") == "vault.envelope_damaged")
        #expect(try object.strings("notes").contains { $0.contains("3 attempts have failed") })
    }

    /// A proof lives for a minute where it is not spent.
    @Test(arguments: [
        ["wallet", "sign", "savings", "--scheme", "ed25519", "--path", "m/0'", "--digest"]
            + [String(repeating: "ab", count: 32)],
        ["wallet", "reveal", "savings", "--phrase-out-fd", "1"],
    ])
    func aProofIsEndedWhereWhatItWasForFails(_ line: [String]) throws {
        for isRefused in [true, false] {
            let fixture = Fixture(secrets: ["1234"])
            listing(fixture)
            fixture.services.on(AskSignPolicy.self) { _, _ in
                Answer(SignPolicyReply(policy: .proof))
            }
            fixture.services.on(SignWithWallet.self) { _, _ in
                if isRefused { throw VaultFault.invalidPath.refusal }
                return Answer(
                    SignWithWallet.Reply(
                        signature: [UInt8](repeating: 1, count: 64), publicKey: [], recovery: nil))
            }
            fixture.services.on(RevealWallet.self) { _, _ in
                if isRefused { throw VaultFault.noSuchWallet.refusal }
                return Answer(Fixture.wallet, attachments: [Fixture.secret("abandon")])
            }
            let run = try fixture.prepare(line)
            let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
            defer { close(nowhere) }
            let printer = Printer(wantsJSON: true, output: nowhere, complaints: nowhere)
            #expect(CofferCommand.finish(run, printer) == (isRefused ? .refused : .done))
            let ended = fixture.services.seen(Revoke.self).map {
                String(decoding: $0.token, as: UTF8.self)
            }
            #expect(ended.contains { $0.contains("resource") })
            let proof = line[1]
            #expect(ended.contains { $0.contains(proof) } == isRefused, "\(ended)")
            // What a right use spent is not asked for again.
            #expect(ended.count == (isRefused ? 2 : 1))
        }
    }

    @Test func aPasscodeThatIsNeededTwiceIsTypedOnce() throws {
        let fixture = Fixture(secrets: ["1234"])
        listing(fixture)
        fixture.services.on(AskSignPolicy.self) { _, _ in Answer(SignPolicyReply(policy: .proof)) }
        fixture.services.on(SignWithWallet.self) { _, _ in
            Answer(
                SignWithWallet.Reply(
                    signature: [UInt8](repeating: 1, count: 64),
                    publicKey: [UInt8](repeating: 2, count: 33), recovery: 1))
        }
        _ = try fixture.run(
            "wallet", "sign", "savings", "--scheme", "secp256k1", "--path", "m/0", "--digest",
            String(repeating: "ab", count: 32))
        #expect(fixture.person.asked == ["Passcode"])
        let scopes = fixture.services.seen(Verify.self).count
        #expect(scopes == 2)
        let signed = try #require(fixture.services.seen(SignWithWallet.self).first)
        #expect(signed.attachments == [[UInt8](repeating: 0xAB, count: 32)])
        #expect(String(decoding: signed.token, as: UTF8.self).contains("sign"))
    }
}
