import AuthorityDouble
import Secrets
import Serving
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

/// Another service works for the holder of a session that names it and the vault.
@Suite struct ActingRules {
    private static let both: Set<ServiceName> = [.walletVault, .backupShares]

    @Test func backupSharesBringsChecksAndShowsForTheHolder() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let session = try rig.token(.resource(rig.main), audience: Self.both)
            let wallet = try await rig.ask(
                ImportWallet(
                    namespace: rig.main, label: "restored", walletKind: .bip39, expected: nil),
                from: rig.shares, token: session, attachments: [Rig.secret(publishedPhrase)]
            ).reply
            let check = CheckWallet(namespace: rig.main, wallet: wallet.wallet)
            #expect(try await rig.ask(check, from: rig.shares, token: session).reply == wallet)
            let proof = try rig.token(.reveal(rig.main, wallet.wallet), audience: Self.both)
            let shown = try await rig.ask(
                RevealWallet(namespace: rig.main, wallet: wallet.wallet), from: rig.shares,
                token: proof)
            #expect(
                shown.attachments.first?.bytes.withBytes { Array($0) }
                    == Array(publishedPhrase.utf8))
            // The holder's own listing has it.
            #expect(try await rig.list() == [wallet])
        }
    }

    @Test func migrationBringsAndChecksForTheHolder() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let session = try rig.token(
                .resource(rig.main), audience: [.walletVault, .migration])
            let wallet = try await rig.ask(
                ImportWallet(
                    namespace: rig.main, label: "migrated", walletKind: .dash,
                    network: .testnet, expected: Hex.decode(KnownWallet.dashTest.identity)),
                from: rig.migration, token: session, attachments: [Rig.secret(publishedPhrase)]
            ).reply
            let check = CheckWallet(namespace: rig.main, wallet: wallet.wallet)
            #expect(try await rig.ask(check, from: rig.migration, token: session).reply == wallet)
            let proof = try rig.token(
                .reveal(rig.main, wallet.wallet), audience: [.walletVault, .migration])
            #expect(
                try await rig.refusal(
                    RevealWallet(namespace: rig.main, wallet: wallet.wallet),
                    from: rig.migration, token: proof) == "bus.forbidden")
        }
    }

    /// Sessions that do not name whoever presents them, or not the vault.
    @Test(arguments: [[ServiceName.walletVault], [.walletVault, .migration], [.backupShares]])
    func aServiceThatIsNotNamedIsRefused(_ audience: [ServiceName]) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(.bip39).wallet
            let session = try rig.token(.resource(rig.main), audience: Set(audience))
            let proof = try rig.token(.reveal(rig.main, wallet), audience: Set(audience))
            let invalid = "session.invalid"
            #expect(
                try await rig.refusal(
                    ImportWallet(
                        namespace: rig.main, label: "", walletKind: .tonRotation, expected: nil),
                    from: rig.shares, token: session,
                    attachments: [Rig.secret(publishedPhrase)]) == invalid)
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.main, wallet: wallet), from: rig.shares,
                    token: session) == invalid)
            #expect(
                try await rig.refusal(
                    RevealWallet(namespace: rig.main, wallet: wallet), from: rig.shares,
                    token: proof) == invalid)
            // Nothing was spent.
            if audience.contains(.walletVault) {
                #expect(
                    try await rig.refusal(
                        RevealWallet(namespace: rig.main, wallet: wallet), token: proof) == "ok")
            }
        }
    }

    /// Whatever session it presents: a method looks at the role first.
    @Test func noExtensionReachesAWallet() {
        let reached = VaultService.methods.filter { $0.callers.roles.contains(.extension) }
        #expect(reached.map(\.name) == [])
        #expect(VaultService.methods.count > 5)
    }

    /// What the holder alone does.
    @Test func nobodyListsSignsCreatesOrRemovesForAnother() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(.bip39).wallet
            let session = try rig.token(.resource(rig.main), audience: Self.both)
            let forbidden = "bus.forbidden"
            #expect(
                try await rig.refusal(
                    ListWallets(namespace: rig.main), from: rig.shares, token: session)
                    == forbidden)
            #expect(
                try await rig.refusal(
                    CreateWallet(namespace: rig.main, label: "", words: 12), from: rig.shares,
                    token: session) == forbidden)
            #expect(
                try await rig.refusal(
                    SignWithWallet(
                        namespace: rig.main, wallet: wallet, scheme: .ed25519, path: "m/0'"),
                    from: rig.shares,
                    token: rig.token(.sign(rig.main, wallet), audience: Self.both),
                    attachments: [Rig.secret([1])]) == forbidden)
            #expect(
                try await rig.refusal(
                    RemoveWallet(namespace: rig.main, wallet: wallet), from: rig.shares,
                    token: rig.token(.settings, audience: Self.both)) == forbidden)
        }
    }
}
