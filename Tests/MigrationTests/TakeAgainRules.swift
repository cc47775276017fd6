import HDKeys
import Loop
import MigrationMessages
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import MigrationCore

/// What becomes of wallets that were taken in and that the vault has no longer.
@Suite(.timeLimit(.minutes(2))) struct TakeAgainRules {
    private static func keychain(_ count: Int = 5) throws -> TestKeychain {
        var keychain = TestKeychain()
        try keychain.addListed(count, SeededRandom(seed: 71))
        return keychain
    }

    @Test func aWalletThatAPersonRemovedComesInAgainWhereAPersonWantsIt() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            let wallet = keychain.wallets[2]
            let first = try rig.service.store.entry(of: LegacyID(wallet.id), owner: rig.owner)
            rig.vault.remove(wallet.sdkID)
            // An app that applies at each start does not bring it back, and is not held up.
            #expect(try await rig.launch() == .absent)
            #expect(try await rig.apply().total == 0)
            #expect(rig.vault.wallets.count == 4)

            let again = try await rig.apply(again: true)
            #expect(again.state == .finished && again.settled)
            #expect(again.total == 1 && again.succeeded == 1 && again.again == 1)
            #expect(rig.identities() == keychain.identities())
            #expect(rig.summaries.last?.again == 1)
            let entry = try rig.service.store.entry(of: LegacyID(wallet.id), owner: rig.owner)
            #expect(entry?.wallet != first?.wallet && entry?.isMissing == false)
            #expect(try await rig.verify().succeeded == 5)
            #expect(try await rig.apply(again: true).total == 0)
        }
    }

    @Test func thePlanNamesThePlacesWhereWalletsOfThisSourceWereTakenIn() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            #expect(try await rig.plan().places.isEmpty)
            _ = try await rig.apply()
            #expect(
                try await rig.plan().places
                    == [.init(network: .mainnet, namespace: rig.main, wallets: 5)])
            let other = try #require(Namespace("another"))
            for (legacy, name) in [(keychain.wallets[2].id, other), ("not of this source", other)] {
                let entry = try #require(
                    try rig.service.store.entry(
                        of: LegacyID(keychain.wallets[2].id), owner: rig.owner))
                try rig.tamper { database in
                    try database.run(
                        """
                        INSERT OR REPLACE INTO ledger
                        (owner, legacy, network, identity, namespace, wallet, source, migrated)
                        VALUES (?1, ?2, 'mainnet', ?3, ?4, ?5, ?6, 1)
                        """, .text(rig.owner.text), .text(legacy), .blob(entry.identity),
                        .text(name.text), .text(entry.wallet.text), .blob(entry.source))
                }
            }
            #expect(
                try await rig.plan().places == [
                    .init(network: .mainnet, namespace: other, wallets: 1),
                    .init(network: .mainnet, namespace: rig.main, wallets: 4),
                ])
            let last = try #require(try await rig.plan().wallets.first)
            #expect(try await rig.plan(after: last.id).places.isEmpty)
        }
    }

    @Test func whatIsMissingIsShownAndHoldsNoAppUp() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            let wallet = keychain.wallets[1]
            rig.vault.remove(wallet.sdkID)
            // Nobody looked yet.
            #expect(try await rig.plan().counts == ClassCounts(inLedger: 5))
            let verified = try await rig.verify()
            #expect(verified.failures.map(\.code) == ["vault.no_such_wallet"])
            #expect(verified.counts == ClassCounts(inLedger: 5, missing: 1))
            let plan = try await rig.plan()
            #expect(plan.counts == ClassCounts(inLedger: 5, missing: 1))
            #expect(
                plan.wallets.filter { $0.reason == .missing }.map(\.id) == [wallet.id])
            #expect(plan.launch == .absent)
            #expect(try await rig.launch() == .absent)
            #expect(try await rig.status().missing == 1)
            _ = try await rig.apply(again: true)
            #expect(try await rig.plan().counts == ClassCounts(inLedger: 5))
            #expect(try await rig.status().missing == 0)
        }
    }

    @Test func aWalletThatCameBackUnderAnotherNameIsFoundByItsIdentity() async throws {
        let keychain = try Self.keychain()
        for isVerification in [true, false] {
            try await LoopHarness.run {
                let rig = try Rig()
                rig.lay(keychain)
                _ = try await rig.apply()
                let wallet = keychain.wallets[0]
                rig.vault.remove(wallet.sdkID)
                #expect(try await rig.verify().failed == 1)
                let other = try rig.vault.put(
                    wallet.sdkID, on: .mainnet, in: rig.main, of: rig.owner)
                if isVerification {
                    #expect(try await rig.verify().succeeded == 5)
                } else {
                    #expect(try await rig.apply(again: true).total == 0)
                }
                #expect(rig.identities() == keychain.identities())
                let entry = try rig.service.store.entry(
                    of: LegacyID(wallet.id), owner: rig.owner)
                #expect(entry?.wallet == other && entry?.isMissing == false)
            }
        }
    }

    @Test func aWalletThatCameInAgainBeforeItCouldBeNotedIsNotedAndNotBroughtTwice() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            rig.vault.remove(keychain.wallets[3].sdkID)
            try rig.tamper { database in
                try database.run(
                    """
                    CREATE TRIGGER broken BEFORE INSERT ON ledger WHEN NEW.missing = 0
                    BEGIN SELECT RAISE(ABORT, 'no'); END
                    """)
            }
            let ended = try await rig.apply(again: true)
            #expect(ended.state == .failed(code: "storage.failed"))
            #expect(ended.succeeded == 0 && ended.counts.missing == 1)
            // The vault has it, and the ledger has the old name.
            #expect(rig.vault.wallets.count == 5)
            try rig.tamper { try $0.run("DROP TRIGGER broken") }
            let again = try await rig.apply(again: true)
            #expect(again.total == 0 && again.settled && again.counts.missing == 0)
            #expect(rig.identities() == keychain.identities())
            #expect(try await rig.verify().succeeded == 5)
        }
    }

    @Test func aWalletThatCannotComeInAgainIsToldAndHoldsNoAppUp() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            let wallet = keychain.wallets[4]
            rig.vault.remove(wallet.sdkID)
            // A backup in which the phrase is damaged.
            var torn = TestKeychain()
            torn.add(wallet: wallet.id, "no phrase at all")
            torn.list([wallet.id], on: "b67a40f")
            rig.lay(torn)
            let again = try await rig.apply(again: true)
            #expect(again.failures == [.init(id: wallet.id, problem: .phraseInvalid)])
            #expect(!again.settled && again.counts == ClassCounts(inLedger: 1, missing: 1))
            #expect(try await rig.status().sources.first?.deferredFailure == true)
            #expect(try await rig.launch() == .absent)
        }
    }

    @Test func walletsOfAnotherNamespaceAreNotLookedFor() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            rig.vault.removeAll()
            let spare = try #require(Namespace("dash.spare"))
            let request = ApplyMigration(
                source: rig.path, network: .mainnet, namespace: spare, again: true)
            let run = try await rig.ask(request, token: rig.token(.resource(spare))).run
            let ended = try await rig.end(of: run)
            #expect(ended.total == 0 && ended.counts == ClassCounts(inLedger: 5))
            #expect(rig.vault.asked[FindWallet.method] == nil)
        }
    }

    @Test func aWalletOfWhichTheVaultDoesNotTellIsAFailure() async throws {
        let keychain = try Self.keychain(2)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            rig.vault.before = { method in
                if method == FindWallet.method { throw StorageFault.damaged }
            }
            let ended = try await rig.apply(again: true)
            #expect(ended.failed == 2 && ended.total == 2 && !ended.settled)
            #expect(ended.failures.allSatisfy { $0.code == "storage.damaged" })
            #expect(ended.counts == ClassCounts(inLedger: 2))
        }
    }

    @Test func aRunThatIsStoppedWhileItLooksIsStopped() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            rig.vault.removeAll()
            rig.vault.before = { _ in throw BusFault.unreachable }
            let run = try await rig.ask(rig.applying(again: true), token: rig.token()).run
            _ = try await rig.ask(StopRun(run: run))
            let ended = try await rig.end(of: run)
            #expect(ended.state == .stopped, "\(ended)")
            rig.vault.before = nil
            #expect(try await rig.apply(again: true).again == 5)
            #expect(rig.identities() == keychain.identities())
        }
    }
}
