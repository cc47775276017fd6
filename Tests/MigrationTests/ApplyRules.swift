import AuthorityDouble
import HDKeys
import Loop
import MigrationMessages
import Secrets
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import MigrationCore

@Suite(.timeLimit(.minutes(2))) struct ApplyRules {
    private static func keychain(
        mainnet: Int = 6, testnet: Int = 0, seed: UInt64 = 11
    ) throws -> TestKeychain {
        var keychain = TestKeychain()
        let random = SeededRandom(seed: seed)
        try keychain.addListed(mainnet, random)
        try keychain.addListed(testnet, on: .testnet, random)
        return keychain
    }

    /// Phrases under one account, which the list of the main network names.
    private static func keychain(of phrases: String..., under id: String) -> TestKeychain {
        var keychain = TestKeychain()
        for phrase in phrases { keychain.add("WALLET_MNEMONIC_KEY_\(id)", Array(phrase.utf8)) }
        keychain.list([id], on: "b67a40f")
        return keychain
    }

    @Test(arguments: TestKeychain.Format.allCases)
    func everyListedWalletComesInOnceAndTheSourceStaysAsItIs(
        _ format: TestKeychain.Format
    ) async throws {
        let keychain = try Self.keychain(mainnet: 12, testnet: 3)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain, format)
            let first = try await rig.apply()
            #expect(first.state == .finished)
            #expect(first.done == 12 && first.succeeded == 12 && first.failed == 0)
            #expect(first.counts == ClassCounts(inLedger: 12, listed: 3))
            #expect(!first.settled)
            #expect(rig.identities() == keychain.identities(.mainnet))
            let second = try await rig.apply(.testnet)
            #expect(second.succeeded == 3)
            #expect(second.settled)
            #expect(rig.identities() == keychain.identities())
            let status = try await rig.status()
            #expect(status.mainnet == 12 && status.testnet == 3 && status.running == nil)
            #expect(status.sources.count == 1)
            #expect(status.sources.first?.done == true)
            #expect(status.sources.first?.path == rig.path.text)
            #expect(try await rig.launch() == .absent)
            #expect(TestFile.contents(of: rig.path.text) == keychain.bytes(format))
        }
    }

    @Test func aWalletStandsInTheLedgerWithItsNamesAndSource() async throws {
        let keychain = try Self.keychain(mainnet: 1)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            let wallet = try #require(keychain.wallets.first)
            let entry = try #require(
                try rig.service.store.entry(of: LegacyID(wallet.id), owner: rig.owner))
            #expect(entry.network == .mainnet)
            #expect(entry.identity == wallet.sdkID)
            #expect(entry.namespace == rig.main)
            #expect(entry.wallet == rig.vault.wallets.first?.wallet)
            #expect(rig.vault.wallets.first?.label == wallet.id)
            #expect(try await entry.source == rig.plan().digest)
            #expect(entry.migrated == 1_790_000_000)
        }
    }

    @Test func aSourceThatIsDoneIsLeftAloneAndLeavesNoLine() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            #expect(rig.summaries.count == 1)
            let again = try await rig.apply()
            #expect(again.state == .finished && again.total == 0 && again.settled)
            #expect(rig.summaries.count == 1)
            #expect(rig.vault.asked[ImportWallet.method] == 6)
        }
    }

    @Test func theLineOfARunHasNumbersByClass() async throws {
        var keychain = try Self.keychain(mainnet: 3, testnet: 1)
        keychain.add("WALLET_MNEMONIC_KEY_aa", [1])
        let file = keychain
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            let progress = try await rig.apply()
            let expected = RunSummary(progress, isVerification: false)
            #expect(rig.summaries == [expected])
            #expect(expected.ending == .finished && expected.total == 3)
            #expect(expected.counts == ClassCounts(inLedger: 3, listed: 1, orphaned: 1))
        }
    }

    @Test func whatCannotComeInIsToldAndTheRestComesIn() async throws {
        var keychain = try Self.keychain(mainnet: 2)
        let stranger = try LegacyPhrase(SeededRandom(seed: 99))
        let swapped = stranger.text.split(separator: " ").reversed().joined(separator: " ")
        let problems: [(id: String, value: String, problem: WalletProblem)] = [
            ("1", "", .phraseMissing), ("2", "no phrase at all", .phraseInvalid),
            ("3", swapped, .phraseInvalid), ("4", stranger.text, .otherWallet),
            ("5", String(repeating: " ", count: 5_000), .phraseInvalid),
        ]
        for (id, value, _) in problems {
            keychain.add("WALLET_MNEMONIC_KEY_\(id)", Array(value.utf8))
        }
        keychain.list(problems.map(\.id), on: "b67a40f")
        let file = keychain
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            let progress = try await rig.apply()
            #expect(progress.state == .finished && progress.succeeded == 2)
            #expect(progress.failed == 5)
            for (id, _, problem) in problems {
                #expect(progress.failures.contains(.init(id: id, problem: problem)))
            }
            #expect(rig.identities() == file.identities())
            let source = try #require(try await rig.status().sources.first)
            #expect(!source.done && source.deferredFailure && !source.deferredUnknownChain)
            #expect(try await rig.launch() == .pending)
        }
    }

    @Test func noPhraseIsInTheFilesOfTheLedger() async throws {
        let phrase = try LegacyPhrase(SeededRandom(seed: 21))
        let id = try phrase.ids().legacy
        let file = Self.keychain(of: phrase.text, under: id)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            #expect(try await rig.apply().succeeded == 1)
            let stored = ["migration.db", "migration.db-wal"].flatMap {
                TestFile.contents(of: rig.folder.path(of: $0))
            }
            func isStored(_ text: Substring) -> Bool {
                stored.indices.contains { stored[$0...].starts(with: text.utf8) }
            }
            let words = phrase.text.split(separator: " ", maxSplits: 2)
            #expect(!isStored(phrase.text.prefix(words[0].count + words[1].count + 1)))
            // The same search finds what does stand there.
            #expect(isStored(id[...]))
        }
    }

    @Test func aPhraseIsTakenInWhateverItsCaseSpacesAndForm() async throws {
        let phrase = try LegacyPhrase(SeededRandom(seed: 5))
        let typed = "  " + phrase.text.uppercased().replacing(" ", with: "\u{3000}\t ") + "\n"
        let file = Self.keychain(of: typed, under: try phrase.ids().legacy)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            #expect(try await rig.apply().succeeded == 1)
            #expect(try rig.identities() == [phrase.ids().sdk])
        }
    }

    @Test func ofTwoPhrasesUnderOneAccountTheRightOneIsTaken() async throws {
        for isFirst in [true, false] {
            let random = SeededRandom(seed: 6)
            let phrase = try LegacyPhrase(random)
            let other = try LegacyPhrase(random)
            let (first, second) = isFirst ? (phrase, other) : (other, phrase)
            let file = Self.keychain(
                of: first.text, second.text, under: try phrase.ids().legacy)
            try await LoopHarness.run {
                let rig = try Rig()
                rig.lay(file)
                #expect(try await rig.apply().succeeded == 1)
                #expect(try rig.identities() == [phrase.ids().sdk])
            }
        }
    }

    @Test func aMachineThatDerivesTwoSeedsIsNotReliedOn() async throws {
        let keychain = try Self.keychain(mainnet: 2)
        let random = SeededRandom(seed: 1)
        try await LoopHarness.run {
            let rig = try Rig(stretch: { _ in random.secret(64) })
            rig.lay(keychain)
            let progress = try await rig.apply()
            #expect(progress.failures.map(\.problem) == [.derivationsDiffer, .derivationsDiffer])
            #expect(rig.vault.wallets.isEmpty)
        }
    }

    @Test func aWalletOfTheOtherNetworkIsNotTakenIn() async throws {
        // The list of the main network names the id that the phrase has on the test network.
        let phrase = try LegacyPhrase(SeededRandom(seed: 3))
        let id = try phrase.ids(.testnet).legacy
        let file = Self.keychain(of: phrase.text, under: id)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            let progress = try await rig.apply()
            #expect(progress.failures == [.init(id: id, problem: .otherWallet)])
            #expect(rig.vault.wallets.isEmpty)
        }
    }

    @Test func manyFailuresAreCountedAndTheFirstHundredNamed() async throws {
        var keychain = TestKeychain()
        let ids = (0..<130).map { String($0 + 0x100, radix: 16) }
        for id in ids { keychain.add("WALLET_MNEMONIC_KEY_\(id)", Array("none".utf8)) }
        keychain.list(ids, on: "b67a40f")
        let file = keychain
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            let progress = try await rig.apply()
            #expect(progress.failed == 130)
            #expect(progress.failures.count == RunProgress.failureLimit)
            #expect(progress.encoded().count < 60_000)
        }
    }

    @Test func twoOwnersMigrateTheSameSourceEachForHimself() async throws {
        let keychain = try Self.keychain(mainnet: 3)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            #expect(try await rig.launch() == .absent)
            #expect(try await rig.launch(owner: rig.other) == .pending)
            #expect(try await rig.status(owner: rig.other).sources.isEmpty)
            let theirs = try await rig.apply(owner: rig.other)
            #expect(theirs.succeeded == 3)
            #expect(rig.identities(rig.other) == rig.identities())
            let progress = rig.service.runs[rig.owner]?.id
            let run = try #require(progress)
            #expect(
                try await rig.refusal(FollowRun(run: run), owner: rig.other)
                    == "migration.no_such_run")
            #expect(
                try await rig.refusal(StopRun(run: run), owner: rig.other)
                    == "migration.no_such_run")
        }
    }

    @Test func oneRunOfAnOwnerGoesOnAtATime() async throws {
        let keychain = try Self.keychain(mainnet: 3)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            let key = IdempotencyKey([UInt8](repeating: 4, count: 16))
            let isHeld = Flag(true)
            rig.vault.before = { _ in if isHeld.value { throw BusFault.busy } }
            let token = try rig.token()
            let run = try await rig.ask(rig.applying(), token: token, key: key).run
            #expect(try await rig.status().running?.run == run)
            #expect(try await rig.refusal(rig.applying(), token: token) == "migration.busy")
            let verify = VerifyMigration(
                source: rig.path, network: .mainnet, namespace: rig.main)
            #expect(try await rig.refusal(verify, token: token) == "migration.busy")
            // The same asking again is the same run.
            #expect(try await rig.ask(rig.applying(), token: token, key: key).run == run)
            isHeld.value = false
            #expect(try await rig.end(of: run).succeeded == 3)
        }
    }

    @Test func onlyASessionOfTheNamespaceForVaultAndMigrationBegins() async throws {
        let keychain = try Self.keychain(mainnet: 1)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            let spare = try #require(Namespace("dash.spare"))
            let refused: [([UInt8], String)] = [
                ([], "session.invalid"),
                (try rig.token(.settings), "lease.not_authorised"),
                (try rig.token(.resource(spare)), "lease.not_authorised"),
                (try rig.token(audience: [.walletVault]), "session.invalid"),
                (try rig.token(audience: [.migration]), "session.invalid"),
                (try rig.token(owner: rig.other), "session.invalid"),
            ]
            for (token, code) in refused {
                #expect(try await rig.refusal(rig.applying(), token: token) == code)
                let verify = VerifyMigration(
                    source: rig.path, network: .mainnet, namespace: rig.main)
                #expect(try await rig.refusal(verify, token: token) == code)
            }
            let ended = try rig.session()
            rig.authority.end(ended.session)
            #expect(
                try await rig.refusal(rig.applying(), token: ended.token) == "session.ended")
            #expect(rig.vault.asked.isEmpty)
            #expect(try await rig.status().sources.isEmpty)
        }
    }

    @Test func withoutTheAuthorityNothingBegins() async throws {
        let keychain = try Self.keychain(mainnet: 1)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            let token = try rig.token()
            rig.authority.outage = .unreachable
            #expect(
                try await rig.refusal(rig.applying(), token: token)
                    == "lease.authority_unreachable")
            #expect(rig.vault.asked.isEmpty)
        }
    }
}
