import AuthorityDouble
import Loop
import MigrationMessages
import Secrets
import Storage
import TestKit
import Testing
import VaultMessages
import Wire

@testable import MigrationCore

@Suite(.timeLimit(.minutes(2))) struct ResumeRules {
    private static func keychain(_ count: Int = 20) throws -> TestKeychain {
        var keychain = TestKeychain()
        try keychain.addListed(count, SeededRandom(seed: 21))
        return keychain
    }

    @Test func aStoppedRunIsTakenUpAgain() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            rig.holdVault(from: 3)
            let run = try await rig.ask(rig.applying(), token: rig.token()).run
            try await rig.pass { rig.vault.wallets.count >= 3 }
            _ = try await rig.ask(StopRun(run: run))
            let stopped = try await rig.end(of: run)
            rig.vault.before = nil
            #expect(stopped.state == .stopped)
            #expect(stopped.succeeded < 20 && stopped.done == stopped.succeeded)
            #expect(stopped.counts.inLedger == stopped.succeeded)
            let source = try #require(try await rig.status().sources.first)
            #expect(!source.done && !source.deferredFailure)
            let rest = try await rig.apply()
            #expect(rest.total == 20 - stopped.succeeded && rest.settled)
            #expect(rig.identities() == keychain.identities())
        }
    }

    @Test func everyTableWithAnOwnerIsWiped() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            #expect(try tablesLeft(by: MigrationService.ownerTables, in: rig.database) == [])
            #expect(try tablesLeft(by: [], in: rig.database) == ["ledger", "sources"])
        }
    }

    @Test func aRunEndsWithItsSessionAndKeepsWhatItDid() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            rig.holdVault(from: 5)
            let (token, session) = try rig.session()
            let run = try await rig.ask(rig.applying(), token: token).run
            try await rig.pass { rig.vault.wallets.count >= 5 }
            rig.authority.end(session)
            let ended = try await rig.end(of: run)
            rig.vault.before = nil
            #expect(ended.state == .failed(code: "session.ended"))
            #expect(ended.counts.inLedger == ended.succeeded)
            #expect(rig.summaries.last?.ending == .failed(code: "session.ended"))
            let rest = try await rig.apply()
            #expect(rest.settled)
            #expect(rig.identities() == keychain.identities())
        }
    }

    @Test func aRunWaitsForAVaultThatIsStartedAnew() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            let asked = Flag(0)
            rig.vault.before = { _ in
                asked.value += 1
                if (20..<40).contains(asked.value) { throw BusFault.unreachable }
            }
            let progress = try await rig.apply()
            #expect(asked.value == 40)
            #expect(progress.settled && progress.failed == 0)
            #expect(rig.identities() == keychain.identities())
        }
    }

    @Test func aRunEndsWhereTheVaultStaysAway() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            var limits = MigrationLimits()
            limits.patienceMilliseconds = 600
            let rig = try Rig(limits: limits)
            rig.lay(keychain)
            rig.vault.before = { _ in
                if rig.vault.wallets.count >= 7 { throw BusFault.unreachable }
            }
            let ended = try await rig.apply()
            #expect(ended.state == .failed(code: "migration.vault_unreachable"))
            #expect(ended.succeeded == 7 && ended.counts.inLedger == 7)
            #expect(ended.failures.isEmpty)
            rig.vault.before = nil
            #expect(try await rig.apply().settled)
            #expect(rig.identities() == keychain.identities())
        }
    }

    @Test func aRunThatIsStoppedWhileTheVaultIsAwayIsStopped() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            rig.vault.before = { _ in throw BusFault.unreachable }
            let run = try await rig.ask(rig.applying(), token: rig.token()).run
            _ = try await rig.ask(StopRun(run: run))
            #expect(try await rig.end(of: run).state == .stopped)
        }
    }

    @Test(arguments: [BusFault.lost, .expired])
    func aLostAnswerMakesNoSecondWallet(_ fault: BusFault) async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            let count = Flag(0)
            rig.vault.after = { method throws(BusFault) in
                count.value += 1
                if count.value % 3 == 0 { throw fault }
            }
            let progress = try await rig.apply()
            #expect(progress.settled && progress.succeeded == 20)
            #expect(rig.identities() == keychain.identities())
        }
    }

    @Test func aWalletThatCameInBeforeItCouldBeNotedIsNoted() async throws {
        let keychain = try Self.keychain(4)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            let wallet = keychain.wallets[2]
            let there = try rig.vault.put(
                wallet.sdkID, on: .mainnet, in: rig.main, of: rig.owner)
            let progress = try await rig.apply()
            #expect(progress.settled && progress.succeeded == 4)
            #expect(rig.identities() == keychain.identities())
            let entry = try rig.service.store.entry(of: LegacyID(wallet.id), owner: rig.owner)
            #expect(entry?.wallet == there)
            #expect(rig.vault.asked[CheckWallet.method] == 1)
        }
    }

    @Test func aWalletThatIsThereAndDoesNotOpenIsNotNoted() async throws {
        let keychain = try Self.keychain(2)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            let wallet = keychain.wallets[0]
            _ = try rig.vault.put(
                wallet.sdkID, on: .mainnet, in: rig.main, of: rig.owner)
            rig.vault.before = { method in
                if method == CheckWallet.method { throw VaultFault.envelopeDamaged }
            }
            let progress = try await rig.apply()
            #expect(
                progress.failures == [
                    .init(
                        id: wallet.id, problem: .vaultRefused, code: "vault.envelope_damaged")
                ])
            #expect(progress.succeeded == 1 && !progress.settled)
        }
    }

    @Test func aFullNamespaceEndsTheRun() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            rig.vault.before = { _ in
                if rig.vault.wallets.count >= 4 { throw VaultFault.full }
            }
            let ended = try await rig.apply()
            #expect(ended.state == .failed(code: "vault.full"))
            #expect(ended.succeeded == 4)
        }
    }

    @Test func outcomesThatAreKnownAreNamedSoThatTheVaultForgetsThem() async throws {
        // The vault of the test takes 64 imports whose outcome nobody named as known.
        let keychain = try Self.keychain(150)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            #expect(try await rig.apply().settled)
            #expect(rig.vault.settled.count >= 140)
        }
    }

    @Test func aSourceThatChangesEndsTheRun() async throws {
        let keychain = try Self.keychain(40)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            rig.holdVault(from: 3)
            let run = try await rig.ask(rig.applying(), token: rig.token()).run
            try await rig.pass { rig.vault.wallets.count >= 3 }
            rig.lay(TestKeychain())
            rig.vault.before = nil
            let ended = try await rig.end(of: run)
            #expect(ended.state == .failed(code: "migration.source_changed"))
            #expect(ended.counts.inLedger == ended.succeeded)
        }
    }

    @Test func aStoreThatCannotBeWrittenEndsTheRunAndCountsNothing() async throws {
        let keychain = try Self.keychain(5)
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            try rig.tamper { database in
                try database.run(
                    """
                    CREATE TRIGGER broken BEFORE INSERT ON ledger
                    BEGIN SELECT RAISE(ABORT, 'no'); END
                    """)
            }
            let ended = try await rig.apply()
            #expect(ended.state == .failed(code: "storage.failed"))
            #expect(ended.succeeded == 0 && ended.counts.inLedger == 0)
            try rig.tamper { try $0.run("DROP TRIGGER broken") }
            #expect(try await rig.apply().settled)
            #expect(rig.identities() == keychain.identities())
        }
    }
}
