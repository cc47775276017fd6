import Crypto
import HDKeys
import MigrationMessages
import TestKit
import Testing
import VaultMessages
import Wire

@testable import MigrationCore

@Suite struct PlanRules {
    /// One wallet of every class but those that exclude each other.
    private static func mixed() throws -> TestKeychain {
        var keychain = TestKeychain()
        let random = SeededRandom(seed: 7)
        try keychain.addListed(3, random)
        try keychain.addListed(2, on: .testnet, random)
        keychain.add("WALLET_MNEMONIC_KEY_aa", Array("orphan".utf8))
        keychain.add("WALLET_MNEMONIC_KEY_bb", Array("devnet".utf8))
        keychain.list(["bb"], on: "261d8d7")
        return keychain
    }

    @Test(arguments: TestKeychain.Format.allCases)
    func everyWalletIsShownWithItsReasonInEveryFormat(_ format: TestKeychain.Format) async throws {
        let keychain = try Self.mixed()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain, format)
            let plan = try await rig.plan()
            #expect(plan.digest == SHA256.digest(keychain.bytes(format)))
            #expect(plan.counts == ClassCounts(listed: 5, orphaned: 1, unknownChain: 1))
            #expect(plan.launch == .pending)
            #expect(!plan.more)
            let ids = plan.wallets.map(\.id)
            #expect(ids == ids.sorted())
            for wallet in keychain.wallets {
                let reason: ClassReason =
                    wallet.network == .mainnet ? .listedMainnet : .listedTestnet
                #expect(plan.wallets.contains { $0.id == wallet.id && $0.reason == reason })
            }
            #expect(plan.wallets.first { $0.id == "aa" }?.reason == .namedByNone)
            #expect(plan.wallets.first { $0.id == "bb" }?.reason == .unsupportedChain)
        }
    }

    @Test func namesWithoutAPhraseAreCountedAndHoldNothingUp() async throws {
        var keychain = TestKeychain()
        try keychain.addListed(1, SeededRandom(seed: 8))
        // A wallet that was removed leaves its name; two lists may name the same one.
        keychain.list(["bb", "cc"], on: "b67a40f")
        keychain.list(["bb"], on: "2cbcf83")
        let file = keychain
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            #expect(try await rig.plan().counts == ClassCounts(listed: 1, phraseless: 2))
            let progress = try await rig.apply()
            #expect(progress.settled)
            #expect(progress.counts == ClassCounts(inLedger: 1, phraseless: 2))
            #expect(rig.summaries.last?.counts.phraseless == 2)
            #expect(try await rig.status().sources.first?.counts.phraseless == 2)
            #expect(try await rig.launch() == .absent)
        }
    }

    @Test func whetherAnythingWasRecognisedIsTold() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            // The app's passcode and a setting, and an item of another app.
            rig.lay(TestKeychain())
            #expect(try await rig.plan().rows == 2)
            let other = #"{"service":"org.example","account":"a","value":""}"#
            TestFile.write(Array(other.utf8), to: rig.path.text)
            let plan = try await rig.plan()
            #expect(plan.rows == 0 && plan.counts == ClassCounts() && plan.launch == .absent)
        }
    }

    @Test func aSourceIsReadOnceForAllItsPages() async throws {
        var keychain = TestKeychain()
        let ids = (0..<1_203).map { String($0 + 0x1000, radix: 16) }
        for id in ids { keychain.add("WALLET_MNEMONIC_KEY_\(id)", [1]) }
        keychain.list(ids, on: "b67a40f")
        let file = keychain
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            var seen: [String] = []
            var page = try await rig.plan()
            while true {
                seen += page.wallets.map(\.id)
                guard page.more else { break }
                #expect(page.wallets.count == PlanMigration.pageLimit)
                page = try await rig.plan(after: seen.last)
            }
            #expect(seen == ids)
            #expect(rig.service.shelf.readings == 1)
            rig.lay(TestKeychain())
            #expect(try await rig.plan().wallets.isEmpty)
            #expect(rig.service.shelf.readings == 2)
        }
    }

    @Test func aPageOfLongForeignIdsFitsAFrame() async throws {
        var keychain = TestKeychain()
        let long = String(repeating: "\u{1}", count: 900)
        for number in 0..<60 { keychain.add("WALLET_MNEMONIC_KEY_\(long)\(number)", [1]) }
        let file = keychain
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            var seen = 0
            var after: String?
            while true {
                let page = try await rig.plan(after: after)
                #expect(page.encoded().count < 60_000)
                seen += page.wallets.count
                after = page.wallets.last?.id
                guard page.more else { break }
            }
            #expect(seen == 60)
        }
    }

    @Test func aPageAfterAWalletThatIsNotThereIsRefused() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(TestKeychain())
            let request = PlanMigration(source: rig.path, after: "aa")
            #expect(try await rig.refusal(request) == "migration.no_such_wallet")
        }
    }

    @Test(arguments: [
        ("", "migration.source_malformed"), ("neither", "migration.source_malformed"),
        ("bplist00", "migration.source_malformed"),
        ("<?xml version=\"1.0\"?><plist><dict>", "migration.source_malformed"),
    ])
    func whatIsNoKeychainIsRefusedAndHoldsTheLaunch(_ text: String, _ code: String) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            TestFile.write(Array(text.utf8), to: rig.path.text)
            #expect(try await rig.refusal(PlanMigration(source: rig.path)) == code)
            #expect(try await rig.launch() == .unreadable)
        }
    }

    @Test func aSourceThatIsNotThereHoldsTheLaunch() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            #expect(
                try await rig.refusal(PlanMigration(source: rig.path))
                    == "migration.source_unreadable")
            #expect(try await rig.launch() == .unreadable)
        }
    }

    @Test func theLaunchDecisionGoesByTheSameClasses() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            var keychain = TestKeychain()
            rig.lay(keychain)
            #expect(try await rig.launch() == .absent)
            keychain.add("WALLET_MNEMONIC_KEY_aa", [1])
            rig.lay(keychain)
            #expect(try await rig.launch() == .pending)
            keychain.list([], on: "b67a40f")
            rig.lay(keychain)
            #expect(try await rig.launch() == .absent)
            keychain.add("CHAIN_WALLETS_KEY_2cbcf83", Array("damage".utf8))
            rig.lay(keychain)
            #expect(try await rig.launch() == .unreadable)
            keychain.list(["aa"], on: "b67a40f")
            rig.lay(keychain)
            #expect(try await rig.launch() == .pending)
        }
    }

    @Test func aRowThatCannotBeReadAtAllHoldsTheLaunchAndMakesNothingOrphaned() async throws {
        var keychain = TestKeychain()
        keychain.add("WALLET_MNEMONIC_KEY_aa", [1])
        keychain.list([], on: "b67a40f")
        let bytes = keychain.bytes(.lines) + Array("{\"account\":\n".utf8)
        try await LoopHarness.run {
            let rig = try Rig()
            TestFile.write(bytes, to: rig.path.text)
            let plan = try await rig.plan()
            #expect(plan.counts == ClassCounts(undetermined: 1, damaged: 1))
            #expect(plan.launch == .unreadable)
        }
    }

    @Test func anOrphanedWalletIsNoReasonToHoldTheLaunch() async throws {
        var keychain = TestKeychain()
        keychain.add("WALLET_MNEMONIC_KEY_aa", [1])
        keychain.list([], on: "b67a40f")
        let file = keychain
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(file)
            #expect(try await rig.launch() == .absent)
            let progress = try await rig.apply()
            #expect(progress.state == .finished)
            #expect(progress.settled)
            #expect(try await rig.status().sources.first?.done == true)
            #expect(rig.vault.wallets.isEmpty)
        }
    }
}
