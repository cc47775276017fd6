import AuthorityDouble
import Loop
import Secrets
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

/// What happens when somebody else writes into the vault's store.
@Suite struct TamperRules {
    /// Two wallets of one namespace, and how the store is changed behind the vault's back.
    private func afterChange(
        _ change:
            @escaping @ServiceLoop @Sendable (Rig, Database, WalletID, WalletID) throws -> Void,
        expect code: String, for wallet: @escaping @Sendable (WalletID, WalletID) -> WalletID
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let first = try await rig.create(label: "first").wallet
            let second = try await rig.create(label: "second").wallet
            let meant = wallet(first, second)
            let check = CheckWallet(namespace: rig.main, wallet: meant)
            let token = try rig.token(.resource(rig.main))
            // Untouched, both open.
            #expect(try await rig.refusal(check, token: token) == "ok")
            try rig.tamper { try change(rig, $0, first, second) }
            #expect(try await rig.refusal(check, token: token) == code)
            #expect(
                try await rig.refusal(
                    RevealWallet(namespace: rig.main, wallet: meant),
                    token: rig.token(.reveal(rig.main, meant))) == code)
        }
    }

    @Test func swappedEnvelopesAreRefused() async throws {
        for slot in EnvelopeSlot.allCases {
            try await afterChange(
                { _, database, first, second in
                    try Self.swap(database, slot.reference(of: first), slot.reference(of: second))
                }, expect: "vault.identity_mismatch", for: { first, _ in first })
        }
    }

    @Test func bothEnvelopesOfAnotherWalletAreRefused() async throws {
        try await afterChange(
            { _, database, first, second in
                for slot in EnvelopeSlot.allCases {
                    try Self.swap(database, slot.reference(of: first), slot.reference(of: second))
                }
            }, expect: "vault.identity_mismatch", for: { first, _ in first })
    }

    @Test func aPhraseIsNoSeed() async throws {
        try await afterChange(
            { _, database, first, _ in
                try Self.swap(
                    database, EnvelopeSlot.phrase.reference(of: first),
                    EnvelopeSlot.seed.reference(of: first))
            }, expect: "vault.envelope_damaged", for: { first, _ in first })
    }

    @Test func anEnvelopeThatIsGoneOrCutIsDamaged() async throws {
        try await afterChange(
            { _, database, first, _ in
                try database.run(
                    "DELETE FROM envelopes WHERE ref = ?1",
                    .text(EnvelopeSlot.phrase.reference(of: first)))
            }, expect: "vault.envelope_damaged", for: { first, _ in first })
        try await afterChange(
            { _, database, first, _ in
                try database.run(
                    "UPDATE envelopes SET document = substr(document, 1, 200) WHERE ref = ?1",
                    .text(EnvelopeSlot.seed.reference(of: first)))
            }, expect: "vault.envelope_damaged", for: { first, _ in first })
    }

    @Test func exchangedLabelsAreRefused() async throws {
        try await afterChange(
            { _, database, first, second in
                try database.run(
                    "UPDATE wallets SET label = 'second' WHERE wallet = ?1", .text(first.text))
                try database.run(
                    "UPDATE wallets SET label = 'first' WHERE wallet = ?1", .text(second.text))
            }, expect: "vault.identity_mismatch", for: { first, _ in first })
    }

    @Test func anotherIdentityIsRefused() async throws {
        try await afterChange(
            { _, database, first, _ in
                try database.run(
                    "UPDATE wallets SET identity = ?2 WHERE wallet = ?1", .text(first.text),
                    .blob([2] + [UInt8](repeating: 7, count: 32)))
            }, expect: "vault.identity_mismatch", for: { first, _ in first })
    }

    @Test func anotherNumberOfWordsIsRefused() async throws {
        try await afterChange(
            { _, database, first, _ in
                try database.run(
                    "UPDATE wallets SET words = 24 WHERE wallet = ?1", .text(first.text))
            }, expect: "vault.identity_mismatch", for: { first, _ in first })
    }

    @Test func aChangedMACIsRefused() async throws {
        try await afterChange(
            { _, database, first, _ in
                try database.run(
                    "UPDATE wallets SET mac = zeroblob(32) WHERE wallet = ?1", .text(first.text))
            }, expect: "vault.identity_mismatch", for: { first, _ in first })
    }

    @Test func aListingSaysUnverifiedOnceTheRowChanged() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create()
            let before = try await rig.list().first
            #expect(before?.verified == true)
            try rig.tamper {
                try $0.run(
                    "UPDATE wallets SET label = 'other' WHERE wallet = ?1",
                    .text(wallet.wallet.text))
            }
            let after = try await rig.list().first
            #expect(after?.verified == false)
        }
    }

    @Test func aRowMovedToAnotherNamespaceIsRefused() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            try rig.tamper { database in
                for table in ["wallets", "envelopes"] {
                    try Self.move(database, table, to: rig.spare)
                }
            }
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.spare, wallet: wallet),
                    token: rig.token(.resource(rig.spare))) == "vault.envelope_damaged")
        }
    }

    /// Another owner has other keys.
    @Test func aRowMovedToAnotherOwnerIsRefused() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            try rig.tamper { database in
                try database.run("UPDATE wallets SET owner = 'second'")
                try database.run("UPDATE envelopes SET owner = 'second'")
            }
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.main, wallet: wallet), owner: rig.other,
                    token: rig.token(.resource(rig.main), owner: rig.other))
                    == "vault.envelope_damaged")
        }
    }

    private static func swap(_ database: Database, _ first: String, _ second: String) throws {
        let documents = try [first, second].map { reference in
            try database.firstRow(
                "SELECT document FROM envelopes WHERE ref = ?1", .text(reference)
            ) { row throws(StorageError) in try row.blob(0) }
        }
        for (reference, document) in [(first, documents[1]), (second, documents[0])] {
            try database.run(
                "UPDATE envelopes SET document = ?2 WHERE ref = ?1", .text(reference),
                .blob(try #require(document)))
        }
    }

    private static func move(
        _ database: Database, _ table: String, to namespace: Namespace
    ) throws {
        if table == "wallets" {
            try database.run("UPDATE wallets SET namespace = ?1", .text(namespace.text))
        } else {
            try database.run("UPDATE envelopes SET namespace = ?1", .text(namespace.text))
        }
    }
}
