import AuthorityMessages
import Crypto
import Glibc
import Secrets
import TestKit
import Testing
import VaultMessages
import Wire

@testable import CofferCore

@Suite struct WalletVerbRules {
    private static let phrase = "abandon ability able"

    private func revealing(_ secrets: [String] = ["1234"]) -> Fixture {
        let fixture = Fixture(secrets: secrets)
        fixture.services.on(RevealWallet.self) { _, _ in
            Answer(Fixture.wallet, attachments: [Fixture.secret(Self.phrase)])
        }
        return fixture
    }

    @Test func aPhraseGoesToADescriptorAndNeverIntoJSON() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let fixture = revealing()
        let run = try fixture.prepare(
            [
                "wallet", "reveal", Fixture.wallet.wallet.text, "--json", "--phrase-out-fd",
                "\(ends[1])",
            ])
        let report = try run.invocation.verb.run(run)
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(ends[0], &bytes, bytes.count)
        #expect(bytes[..<max(0, count)].elementsEqual("\(Self.phrase)\n".utf8))
        let json = String(decoding: report.json(notes: run.notes), as: UTF8.self)
        #expect(!json.contains("abandon"))
        #expect(!report.text.contains("abandon"))
        #expect(report.text.contains(Fixture.wallet.wallet.text))
    }

    @Test func whereAPhraseCannotBeShownNothingIsAskedOrSent() {
        let fixture = revealing()
        for options in [["--json"], []] {
            let failed = failure { () throws(CommandFailure) in
                let run = try fixture.prepare(
                    ["wallet", "reveal", Fixture.wallet.wallet.text] + options)
                // Standard output of a test is no terminal in a pipeline; JSON is for none.
                guard isatty(1) == 0 || !options.isEmpty else { throw .usage("--phrase-out-fd") }
                _ = try run.invocation.verb.run(run)
            }
            #expect(failed?.exitCode == .usage)
            #expect(failed?.refusal.message.contains("--phrase-out-fd") == true)
        }
        #expect(fixture.person.asked.isEmpty)
        #expect(fixture.services.seen.isEmpty)
    }

    @Test func aPhraseIsTakenInAsItWasTyped() throws {
        let fixture = Fixture(secrets: [Self.phrase, "1234"])
        fixture.services.on(ImportWallet.self) { _, _ in Answer(Fixture.wallet) }
        let hex = String(repeating: "02", count: 33)
        _ = try fixture.run("wallet", "import", "--label", "savings", "--expect", hex)
        let seen = try #require(fixture.services.seen(ImportWallet.self).first)
        #expect(seen.attachments == [Array(Self.phrase.utf8)])
        #expect(fixture.person.asked == ["Phrase", "Passcode"])
    }

    @Test(arguments: [
        ["wallet", "create", "--words", "13"], ["wallet", "create", "--label", "a\nb"],
        ["wallet", "import", "--expect", "abc"],
        ["wallet", "create", "--label", String(repeating: "x", count: 65)],
        ["wallet", "create", "--label", "a\u{9B}2Jb"],
        ["wallet", "import", "--label", "a\u{202E}b"],
        ["wallet", "import", "--kind", "bip-39"], ["wallet", "import", "--kind", "dash"],
        ["wallet", "import", "--kind", "dash", "--network", "devnet"],
        ["wallet", "import", "--network", "mainnet"],
        ["wallet", "import", "--kind", "ton", "--network", "testnet"],
        ["wallet", "import", "--kind", "ton", "--expect", String(repeating: "02", count: 33)],
        ["wallet", "import", "--expect", String(repeating: "02", count: 32)],
        ["wallet", "create", "--namespace", "a b"], ["wallet", "create", "--owner", ""],
        ["wallet", "create", "--timeout", "0"], ["wallet", "create", "--timeout", "nan"],
        ["passcode", "change", "--kind", "pattern"],
    ])
    func whatCannotBeRightIsToldBeforeAnythingIsAsked(line: [String]) throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        let failed = failure { () throws(CommandFailure) in
            let run = try fixture.prepare(line)
            _ = try run.invocation.verb.run(run)
        }
        #expect(failed?.exitCode == .usage)
        #expect(fixture.person.asked.isEmpty)
    }

    @Test func aWalletIsRemovedOnlyByWhoeverTypesItsName() throws {
        for (typed, isRight) in [
            ("savings", true), (Fixture.wallet.wallet.text, true), ("yes", false), ("", false),
        ] {
            let fixture = Fixture(secrets: ["1234"], lines: [typed])
            fixture.services.on(ListWallets.self) { _, _ in
                Answer(ListWallets.Reply(wallets: [Fixture.wallet], more: false))
            }
            fixture.services.on(RemoveWallet.self) { _, _ in Answer(Empty()) }
            let failed = failure { () throws(CommandFailure) in
                _ = try fixture.run("wallet", "remove", "savings")
            }
            #expect((failed == nil) == isRight)
            #expect(fixture.services.seen(RemoveWallet.self).count == (isRight ? 1 : 0))
            if let failed { #expect(failed.code == "coffer.not_confirmed") }
        }
    }

    @Test func whatIsRemovedIsNamedByIdAndLabel() throws {
        let fixture = Fixture(secrets: ["1234"])
        listing(fixture)
        fixture.services.on(RemoveWallet.self) { _, _ in Answer(Empty()) }
        let id = Fixture.wallet.wallet.text
        let object = try fixture.json("wallet", "remove", id, "--yes")
        #expect(try object.string("wallet") == id)
        #expect(try object.string("label") == "savings")
    }

    @Test func aNewWalletsPhraseIsToBeWrittenDown() throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        fixture.services.on(CreateWallet.self) { _, _ in Answer(Fixture.wallet) }
        let advice = "`coffer wallet reveal \(Fixture.wallet.wallet.text)`"
        #expect(try fixture.run("wallet", "create").report.text.contains(advice))
        let notes = try fixture.json("wallet", "create", "--json").strings("notes")
        #expect(notes.contains { $0.contains(advice) })
    }

    private func listing(
        _ fixture: Fixture, _ wallets: [WalletDescription] = [Fixture.wallet],
        damaged: [String] = []
    ) {
        fixture.services.on(ListWallets.self) { _, _ in
            Answer(ListWallets.Reply(wallets: wallets, more: false, damaged: damaged))
        }
    }

    /// Other words than those of ``Fixture/wallet``.
    private static func wallet(
        _ kind: WalletKind, _ network: WalletNetwork? = nil
    ) -> WalletDescription {
        WalletDescription(
            wallet: Fixture.wallet.wallet, kind: kind, network: network, label: kind.text,
            identity: [UInt8](repeating: 5, count: kind.identityBytes), verified: true, words: 24)
    }

    @Test(
        arguments: [
            (.bip39, nil), (.dash, .mainnet), (.dash, .testnet), (.ton, nil), (.tonRotation, nil),
        ] as [(WalletKind, WalletNetwork?)])
    func aWalletOfAnyKindIsTakenIn(_ kind: WalletKind, _ network: WalletNetwork?) throws {
        let fixture = Fixture(secrets: [Self.phrase, "1234"])
        var asked: ImportWallet?
        fixture.services.on(ImportWallet.self) { request, _ in
            asked = request
            return Answer(Self.wallet(request.walletKind, request.network))
        }
        let identity = [UInt8](repeating: 5, count: kind.identityBytes)
        var line = ["wallet", "import", "--kind", kind.text, "--expect", Hex.encode(identity)]
        if let network { line += ["--network", network.text] }
        let run = try fixture.prepare(line)
        let text = try run.invocation.verb.run(run).text
        #expect(asked?.walletKind == kind)
        #expect(asked?.network == network)
        #expect(asked?.expected == identity)
        #expect(text.contains(kind.text))
        #expect(text.contains("network") == (network != nil))
    }

    @Test func aListShowsKindAndNetwork() throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        listing(fixture, [Fixture.wallet, Self.wallet(.dash, .testnet), Self.wallet(.ton)])
        let lines = try fixture.run("wallet", "list").report.text.split(separator: "\n")
        #expect(
            lines[0].split(separator: " ").map(String.init)
                == ["WALLET", "LABEL", "KIND", "NETWORK", "WORDS", "STATE", "IDENTITY"])
        #expect(lines[1].contains(" bip39  -"))
        #expect(lines[2].contains(" dash   testnet"))
        let wallets = try fixture.json("wallet", "list").objects("wallets")
        #expect(try wallets.map { try $0.string("kind") } == ["bip39", "dash", "ton"])
        #expect(try wallets.map { try $0.optionalString("network") } == [nil, "testnet", nil])
    }

    @Test func whatCannotBeReadIsNamedBesideTheOthers() throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        let id = "99999999-2222-4333-8444-555555555555"
        listing(fixture, damaged: [id, "row 7"])
        let (report, notes) = try fixture.run("wallet", "list")
        #expect(report.text.contains("savings"))
        #expect(notes.count == 2)
        #expect(notes[0].contains(id) && notes[1].contains("row 7"))
        let object = try fixture.json("wallet", "list")
        #expect(try object.strings("damaged") == [id, "row 7"])
        #expect(try object.objects("wallets").count == 1)
    }

    @Test func whatCannotBeReadIsRemovedByItsWholeId() throws {
        let id = "99999999-2222-4333-8444-555555555555"
        for (named, typed, isRight) in [
            (id, id, true), (id.lowercased(), id.lowercased(), true), (id, "yes", false),
            ("99999999", id, false),
        ] {
            let fixture = Fixture(secrets: ["1234", "1234"], lines: [typed])
            listing(fixture, damaged: [id])
            fixture.services.on(RemoveWallet.self) { request, _ in
                #expect(request.wallet.text == id)
                return Answer(Empty())
            }
            let failed = failure { () throws(CommandFailure) in
                _ = try fixture.run("wallet", "remove", named)
            }
            #expect((failed == nil) == isRight)
        }
    }

    /// Kind, what is given, and the key that is asked for; nil where more has to be given.
    @Test(
        arguments: [
            (.ton, [], .ed25519, "m"),
            (.tonRotation, [], .ed25519, "m/44'/607'/0'"),
            (.ton, ["--scheme", "ed25519", "--path", "m"], .ed25519, "m"),
            // The vault refuses what the kind does not have.
            (.ton, ["--path", "m/0'"], .ed25519, "m/0'"),
            (.dash, ["--path", "m/44'/5'/0'/0/0"], .secp256k1, "m/44'/5'/0'/0/0"),
            (.dash, ["--path", "m/9'", "--scheme", "ed25519"], .ed25519, "m/9'"),
            (.bip39, ["--path", "m/9'", "--scheme", "ed25519"], .ed25519, "m/9'"),
            (.dash, [], nil, ""), (.bip39, ["--scheme", "ed25519"], nil, ""),
            (.bip39, ["--path", "m/9'"], nil, ""), (.bip39, [], nil, ""),
        ] as [(WalletKind, [String], SignatureScheme?, String)])
    func theKeyGoesByTheKindWhereItIsNotGiven(
        _ kind: WalletKind, _ options: [String], _ scheme: SignatureScheme?, _ path: String
    ) throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        listing(fixture, [Self.wallet(kind, kind.hasNetwork ? .mainnet : nil)])
        fixture.services.on(AskSignPolicy.self) { _, _ in Answer(SignPolicyReply(policy: .proof)) }
        var asked: SignWithWallet?
        fixture.services.on(SignWithWallet.self) { request, _ in
            asked = request
            return Answer(
                SignWithWallet.Reply(
                    signature: [UInt8](repeating: 1, count: 64), publicKey: [], recovery: nil))
        }
        let digest = ["--digest", String(repeating: "00", count: 32)]
        let run = try fixture.prepare(["wallet", "sign", kind.text] + digest + options)
        let failed = failure { () throws(CommandFailure) in _ = try run.invocation.verb.run(run) }
        #expect(asked?.scheme == scheme)
        #expect(failed?.exitCode == (scheme == nil ? .usage : nil))
        if scheme != nil { #expect(asked?.path == path) }
    }

    @Test func whatIsToBeSignedIsLookedAtBeforeAnythingIsAsked() throws {
        for line in [[], ["--digest", "00", "--message-file", "x"], ["--scheme", "rsa"]] {
            let fixture = Fixture(secrets: ["1234"])
            let failed = failure { () throws(CommandFailure) in
                let run = try fixture.prepare(["wallet", "sign", "a", "--path", "m"] + line)
                _ = try run.invocation.verb.run(run)
            }
            #expect(failed?.exitCode == .usage)
            #expect(fixture.person.asked.isEmpty)
            #expect(fixture.services.seen.isEmpty)
        }
    }

    @Test(arguments: [
        "44'/0'", "", "m/", "/44'", "m/44'/", "m/-1", "m/x", "m44'", "m/2147483648",
        "m" + String(repeating: "/0", count: 11),
    ])
    func aMalformedPathIsWrongUsageBeforeAnythingIsAsked(path: String) throws {
        let fixture = Fixture(secrets: ["1234"])
        let failed = failure { () throws(CommandFailure) in
            _ = try fixture.run(
                "wallet", "sign", "a", "--scheme", "ed25519", "--path=\(path)", "--digest",
                String(repeating: "00", count: 32))
        }
        #expect(failed?.exitCode == .usage)
        #expect(path.isEmpty || failed?.refusal.message.contains("`m/44'/0'/0'`") == true)
        #expect(fixture.person.asked.isEmpty)
        #expect(fixture.services.seen.isEmpty)
    }

    @Test func allPagesOfAListAreFetched() throws {
        let fixture = Fixture(secrets: ["1234"])
        let second = WalletDescription(
            wallet: Fixture.walletID("99999999-2222-4333-8444-555555555555"), kind: .bip39,
            label: "b", identity: [], verified: false, words: 12)
        fixture.services.on(ListWallets.self) { request, _ in
            request.after == nil
                ? Answer(ListWallets.Reply(wallets: [Fixture.wallet], more: true))
                : Answer(ListWallets.Reply(wallets: [second], more: false))
        }
        let object = try fixture.json("wallet", "list")
        #expect(try object.objects("wallets").count == 2)
    }

    @Test func aMessageIsHashedForSecp256k1Only() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "message")
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        _ = Array("hello".utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
        let once = SHA256.digest(Array("hello".utf8))
        let cases: [([String], [UInt8]?)] = [
            (["--scheme", "ed25519", "--message-file", path], Array("hello".utf8)),
            (["--scheme", "secp256k1", "--message-file", path, "--hash", "sha256"], once),
            (
                ["--scheme", "secp256k1", "--message-file", path, "--hash", "sha256d"],
                SHA256.digest(once)
            ),
            (["--scheme", "secp256k1", "--message-file", path], nil),
            (["--scheme", "ed25519", "--message-file", path, "--hash", "sha256"], nil),
            (["--scheme", "rsa", "--message-file", path], nil),
            (["--scheme", "ed25519"], nil),
            (["--scheme", "ed25519", "--message-file", path + "x"], nil),
            (["--scheme", "secp256k1", "--digest", "abcd"], nil),
        ]
        for (options, expected) in cases {
            let fixture = Fixture(secrets: ["1234"])
            listing(fixture)
            fixture.services.on(AskSignPolicy.self) { _, _ in
                Answer(SignPolicyReply(policy: .proof))
            }
            fixture.services.on(SignWithWallet.self) { _, _ in
                Answer(
                    SignWithWallet.Reply(
                        signature: [UInt8](repeating: 1, count: 64), publicKey: [], recovery: nil))
            }
            let run = try fixture.prepare(
                ["wallet", "sign", Fixture.wallet.wallet.text, "--path", "m/0'"] + options)
            let report = try? run.invocation.verb.run(run)
            #expect((report != nil) == (expected != nil), "\(options)")
            let signed = fixture.services.seen(SignWithWallet.self).first?.attachments.first
            #expect(signed == expected)
        }
    }

    @Test func underTheSessionPolicyAKeptSessionSigns() throws {
        let fixture = Fixture(secrets: ["1234"])
        _ = try fixture.run("unlock")
        listing(fixture)
        fixture.services.on(AskSignPolicy.self) { _, _ in
            Answer(SignPolicyReply(policy: .session))
        }
        fixture.services.on(SignWithWallet.self) { _, _ in
            Answer(
                SignWithWallet.Reply(
                    signature: [UInt8](repeating: 1, count: 64), publicKey: [], recovery: nil))
        }
        _ = try fixture.run(
            "wallet", "sign", Fixture.wallet.wallet.text, "--path", "m/0'", "--scheme", "ed25519",
            "--digest", String(repeating: "00", count: 32))
        #expect(fixture.person.asked.count == 1)
        #expect(fixture.services.seen(Verify.self).count == 1)
    }
}
