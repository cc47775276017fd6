import HDKeys
import Loop
import MigrationMessages
import Storage
import TestKit
import Testing
import VaultMessages

@testable import MigrationCore

@Suite(.timeLimit(.minutes(2))) struct VerifyRules {
    private static func keychain() throws -> TestKeychain {
        var keychain = TestKeychain()
        let random = SeededRandom(seed: 31)
        try keychain.addListed(5, random)
        try keychain.addListed(2, on: .testnet, random)
        return keychain
    }

    @Test func whatCameInVerifies() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            #expect(try await rig.verify().total == 0)
            _ = try await rig.apply()
            _ = try await rig.apply(.testnet)
            let progress = try await rig.verify()
            #expect(progress.state == .finished && progress.succeeded == 5)
            #expect(progress.total == 5 && progress.failed == 0 && progress.settled)
            #expect(try await rig.verify(.testnet).succeeded == 2)
            #expect(rig.vault.asked[CheckWallet.method] == 7)
            #expect(rig.summaries.last?.isVerification == true)
            #expect(try await rig.status().sources.first?.done == true)
        }
    }

    @Test func aWalletThatTheVaultLostDoesNotVerify() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            rig.vault.removeAll()
            let progress = try await rig.verify()
            #expect(progress.failed == 5 && progress.succeeded == 0)
            #expect(
                progress.failures.allSatisfy {
                    $0.problem == .vaultRefused && $0.code == "vault.no_such_wallet"
                })
        }
    }

    @Test func aLedgerThatNamesAnotherWalletDoesNotVerify() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            let ids = keychain.wallets.filter { $0.network == .mainnet }.map(\.id)
            try rig.tamper { database in
                try database.run(
                    """
                    UPDATE ledger SET wallet =
                    (SELECT wallet FROM ledger WHERE legacy = ?2) WHERE legacy = ?1
                    """, .text(ids[0]), .text(ids[1]))
                try database.run(
                    "UPDATE ledger SET identity = zeroblob(32) WHERE legacy = ?1", .text(ids[2]))
            }
            let progress = try await rig.verify()
            #expect(progress.succeeded == 3)
            #expect(
                progress.failures.sorted { $0.id < $1.id }
                    == [ids[0], ids[2]].sorted().map {
                        .init(id: $0, problem: .identityDiffers)
                    })
        }
    }
}
