import AuthorityDouble
import Crypto
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

/// Stores of earlier versions, and what the store counts.
@Suite struct StoreRules {
    /// The tables as the first version of the vault made them.
    private static let firstSchema = Schema(steps: [
        OutcomeJournal.schemaStep,
        SchemaStep(
            "wallets and envelopes",
            """
            CREATE TABLE wallets (
                position INTEGER PRIMARY KEY AUTOINCREMENT,
                owner TEXT NOT NULL,
                namespace TEXT NOT NULL,
                wallet TEXT NOT NULL,
                kind TEXT NOT NULL,
                label TEXT NOT NULL,
                words INTEGER NOT NULL,
                identity BLOB NOT NULL,
                mac BLOB NOT NULL,
                UNIQUE (owner, namespace, wallet),
                UNIQUE (owner, namespace, identity)
            ) STRICT
            """,
            """
            CREATE INDEX wallets_by_age ON wallets (owner, namespace, position)
            """,
            """
            CREATE TABLE envelopes (
                owner TEXT NOT NULL,
                namespace TEXT NOT NULL,
                ref TEXT NOT NULL,
                document BLOB NOT NULL,
                PRIMARY KEY (owner, namespace, ref)
            ) STRICT, WITHOUT ROWID
            """),
    ])

    /// What wipes an owner names every table.
    @Test func aWipeTakesEveryTableWithAnOwner() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            #expect(try tablesLeft(by: VaultService.ownerTables, in: rig.database) == [])
            let all = ["envelopes", "namespaces", "wallets"]
            #expect(try tablesLeft(by: [], in: rig.database) == all)
        }
    }

    @Test func aStoreOfTheFirstVersionOpens() async throws {
        try await LoopHarness.run {
            let folder = try TemporaryFolder(inMemory: true)
            let wallet = try #require(WalletID("11111111-2222-4333-8444-555555555555"))
            let owner = try #require(Owner("local"))
            let namespace = try #require(Namespace("telegram.production.42"))
            try Self.writeFirstStore(folder, owner, namespace, wallet)

            let rig = try Rig(inFolder: folder)
            let listed = try await rig.list()
            #expect(listed.map(\.wallet) == [wallet])
            #expect(listed.first?.network == nil)
            #expect(listed.first?.verified == false)
            let check = CheckWallet(namespace: namespace, wallet: wallet)
            let checked = try await rig.ask(
                check, token: rig.token(.resource(namespace))
            ).reply
            #expect(Hex.encode(checked.identity) == KnownWallet.bip39.identity)
            #expect(try await rig.reveal(wallet) == publishedPhrase)
            #expect(try rig.service.owners() == [owner])
            #expect(try rig.service.store.walletCount(of: owner, in: namespace) == 1)
            // It counts among the others from then on.
            _ = try await rig.bring(.dashMain)
            #expect(try rig.service.store.walletCount(of: owner, in: namespace) == 2)
        }
    }

    /// Writes a store without networks, its MAC made beside the vault.
    @ServiceLoop
    private static func writeFirstStore(
        _ folder: TemporaryFolder, _ owner: Owner, _ namespace: Namespace, _ wallet: WalletID
    ) throws {
        let keys = try Rig.keys(of: owner, namespace)
        let identity = try #require(Hex.decode(KnownWallet.bip39.identity))
        func part(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }
        func text(_ text: String) -> [UInt8] { part(Array(text.utf8)) }
        let message =
            text("coffer.wallet.identity.v1") + text("savings") + text(owner.text)
            + text(namespace.text) + text(wallet.text) + text("bip39") + part(identity)
            + part([0, 0, 0, 12])
        let mac = HMAC.sha256(key: keys.identities.bytes, message: message).withBytes { Array($0) }
        let phrase = SecretBytes(copying: Array(publishedPhrase.utf8))
        let seed = try WalletFamily.bip39.seed(of: phrase)
        let random = SeededRandom(seed: 7)
        let documents = [
            "phrase": try EnvelopeV1.seal(
                phrase, namespace: namespace, wrappingKey: keys.envelopes.bytes, random: random),
            "seed": try EnvelopeV1.seal(
                seed, namespace: namespace, wrappingKey: keys.envelopes.bytes, random: random),
        ]
        let store = try Database(path: folder.path(of: "vault.db"), schema: firstSchema)
        try store.write {
            try store.run(
                """
                INSERT INTO wallets
                (owner, namespace, wallet, kind, label, words, identity, mac)
                VALUES (?1, ?2, ?3, 'bip39', 'savings', 12, ?4, ?5)
                """, .text(owner.text), .text(namespace.text), .text(wallet.text),
                .blob(identity), .blob(mac))
            for (slot, document) in documents {
                try store.run(
                    """
                    INSERT INTO envelopes (owner, namespace, ref, document)
                    VALUES (?1, ?2, ?3, ?4)
                    """, .text(owner.text), .text(namespace.text),
                    .text("wallet:\(wallet.text):\(slot)"), .blob(document.encoded()))
            }
        }
        try store.commitBatch()
        store.close()
    }

    @Test func walletsAreCountedAsTheyComeAndGo() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            @ServiceLoop func count(_ namespace: Namespace) throws -> Int {
                try rig.service.store.walletCount(of: rig.owner, in: namespace)
            }
            let first = try await rig.create().wallet
            _ = try await rig.create()
            _ = try await rig.create(in: rig.spare)
            _ = try await rig.create(owner: rig.other)
            _ = try await rig.bring(.ton)
            // One that is refused after it was looked for is not counted.
            _ = try? await rig.bring(.ton)
            #expect(try count(rig.main) == 3)
            #expect(try count(rig.spare) == 1)
            #expect(try rig.service.store.walletCount() == 5)
            try await rig.ask(
                RemoveWallet(namespace: rig.main, wallet: first), token: rig.token(.settings))
            #expect(try count(rig.main) == 2)
            #expect(try rig.service.owners() == [rig.owner, rig.other])
            try rig.tamper { database in
                for table in VaultService.ownerTables {
                    try database.run(table.delete, .text(rig.owner.text))
                }
            }
            #expect(try count(rig.main) == 0)
            #expect(try rig.service.owners() == [rig.other])
            #expect(try rig.service.store.walletCount() == 1)
        }
    }

    /// What puts a row of the owner into one table and into no other.
    private static let rows: [String: [StaticString]] = [
        "envelopes": ["INSERT INTO envelopes VALUES ('local', 'n', 'r', x'00')"],
        "namespaces": ["INSERT INTO namespaces VALUES ('local', 'n', 1)"],
        "wallets": [
            """
            INSERT INTO wallets (owner, namespace, wallet, kind, label, words, identity, mac)
            VALUES ('local', 'n', 'w', 'bip39', '', 12, x'00', x'00')
            """,
            "DELETE FROM namespaces WHERE owner = 'local'",
        ],
    ]

    @Test func aVaultIsEmptyOfAnOwnerWhenNoTableHasARow() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            func isEmpty(of owner: Owner? = nil) async throws -> Bool {
                try await rig.ask(
                    AskWhetherEmpty(), from: rig.credentialAuthority, owner: owner
                ).reply.empty
            }
            #expect(try await isEmpty())
            let wallet = try await rig.create().wallet
            #expect(try await !isEmpty())
            #expect(try await isEmpty(of: rig.other))
            try await rig.ask(
                RemoveWallet(namespace: rig.main, wallet: wallet), token: rig.token(.settings))
            #expect(try await isEmpty())
            // A row that belongs to nothing is something all the same, whichever table has it.
            #expect(try tablesLeft(by: [], in: rig.database) == Self.rows.keys.sorted())
            for (table, rows) in Self.rows {
                try rig.tamper { for row in rows { try $0.run(row) } }
                #expect(try await !isEmpty(), "\(table)")
                try rig.tamper {
                    for table in VaultService.ownerTables {
                        try $0.run(table.delete, .text(rig.owner.text))
                    }
                }
                #expect(try await isEmpty(), "\(table)")
            }
            for peer in [rig.app, rig.engine, rig.shares, rig.migration] {
                #expect(try await rig.refusal(AskWhetherEmpty(), from: peer) == "bus.forbidden")
            }
        }
    }
}
