internal import Loop
internal import Serving
internal import Storage
internal import VaultMessages
internal import Wire

/// The vault's tables: wallets in clear, and their envelopes.
@ServiceLoop
final class VaultStore {
    /// The shape of the vault's database, the journal of outcomes included.
    nonisolated static let schema = Schema(steps: [
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

    nonisolated static let ownerTables = [
        OwnerTable(
            delete: "DELETE FROM envelopes WHERE owner = ?1",
            keep: "DELETE FROM envelopes WHERE owner <> ?1"),
        OwnerTable(
            delete: "DELETE FROM wallets WHERE owner = ?1",
            keep: "DELETE FROM wallets WHERE owner <> ?1"),
    ]

    private let database: Database

    init(database: Database) { self.database = database }

    // MARK: Wallets

    func wallet(
        _ wallet: WalletID, owner: Owner, namespace: Namespace
    ) throws(StorageError) -> WalletRecord? {
        try database.firstRow(
            """
            SELECT owner, namespace, wallet, kind, label, words, identity, mac FROM wallets
            WHERE owner = ?1 AND namespace = ?2 AND wallet = ?3
            """, .text(owner.text), .text(namespace.text), .text(wallet.text), map: Self.record)
    }

    func hasWallet(
        identity: [UInt8], owner: Owner, namespace: Namespace
    ) throws(StorageError) -> Bool {
        try database.firstRow(
            "SELECT 1 FROM wallets WHERE owner = ?1 AND namespace = ?2 AND identity = ?3",
            .text(owner.text), .text(namespace.text), .blob(identity)
        ) { row throws(StorageError) in try row.integer(0) } != nil
    }

    /// Some wallets of a namespace, oldest first, from the one after `wallet` on.
    ///
    /// - Returns: nil where there is no wallet to begin after.
    func wallets(
        after wallet: WalletID?, owner: Owner, namespace: Namespace, limit: Int
    ) throws(StorageError) -> [WalletRecord]? {
        var position: Int64 = 0
        if let wallet {
            let found = try database.firstRow(
                """
                SELECT position FROM wallets
                WHERE owner = ?1 AND namespace = ?2 AND wallet = ?3
                """, .text(owner.text), .text(namespace.text), .text(wallet.text)
            ) { row throws(StorageError) in try row.integer(0) }
            guard let found else { return nil }
            position = found
        }
        return try database.rows(
            """
            SELECT owner, namespace, wallet, kind, label, words, identity, mac FROM wallets
            WHERE owner = ?1 AND namespace = ?2 AND position > ?3 ORDER BY position LIMIT ?4
            """, .text(owner.text), .text(namespace.text), .integer(position),
            .integer(Int64(limit)), map: Self.record)
    }

    /// Whether a namespace has as many wallets as it may.
    func isFull(owner: Owner, namespace: Namespace, limit: Int) throws(StorageError) -> Bool {
        let count = try database.firstRow(
            """
            SELECT count(*) FROM
            (SELECT 1 FROM wallets WHERE owner = ?1 AND namespace = ?2 LIMIT ?3)
            """, .text(owner.text), .text(namespace.text), .integer(Int64(limit))
        ) { row throws(StorageError) in try row.integer(0) }
        return Int(count ?? 0) >= limit
    }

    func owners() throws(StorageError) -> [Owner] {
        try database.rows("SELECT DISTINCT owner FROM wallets ORDER BY owner") {
            row throws(StorageError) in try Self.identifier(row.text(0))
        }
    }

    func walletCount() throws(StorageError) -> Int {
        let count = try database.firstRow("SELECT count(*) FROM wallets") {
            row throws(StorageError) in try row.integer(0)
        }
        return Int(count ?? 0)
    }

    /// Adds a wallet with its envelopes; part of a step that the caller makes.
    func add(
        _ record: WalletRecord, envelopes: [EnvelopeSlot: [UInt8]]
    ) throws(StorageError) {
        try database.run(
            """
            INSERT INTO wallets (owner, namespace, wallet, kind, label, words, identity, mac)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """, .text(record.owner.text), .text(record.namespace.text),
            .text(record.wallet.text), .text(record.kind.text), .text(record.label),
            .integer(Int64(record.words)), .blob(record.identity), .blob(record.mac))
        for (slot, document) in envelopes {
            try database.run(
                "INSERT INTO envelopes (owner, namespace, ref, document) VALUES (?1, ?2, ?3, ?4)",
                .text(record.owner.text), .text(record.namespace.text),
                .text(slot.reference(of: record.wallet)), .blob(document))
        }
    }

    /// Removes a wallet and whatever lies in its slots; part of a step that the caller makes.
    func remove(_ record: WalletRecord) throws(StorageError) {
        for slot in EnvelopeSlot.allCases {
            try database.run(
                "DELETE FROM envelopes WHERE owner = ?1 AND namespace = ?2 AND ref = ?3",
                .text(record.owner.text), .text(record.namespace.text),
                .text(slot.reference(of: record.wallet)))
        }
        try database.run(
            "DELETE FROM wallets WHERE owner = ?1 AND namespace = ?2 AND wallet = ?3",
            .text(record.owner.text), .text(record.namespace.text), .text(record.wallet.text))
    }

    // MARK: Envelopes

    /// The document in one of a wallet's slots, or nil where there is none.
    func envelope(
        _ slot: EnvelopeSlot, of record: WalletRecord
    ) throws(StorageError) -> [UInt8]? {
        try database.firstRow(
            "SELECT document FROM envelopes WHERE owner = ?1 AND namespace = ?2 AND ref = ?3",
            .text(record.owner.text), .text(record.namespace.text),
            .text(slot.reference(of: record.wallet))
        ) { row throws(StorageError) in try row.blob(0) }
    }

    // MARK: Reading rows

    private nonisolated static func record(_ row: borrowing Row) throws(StorageError)
        -> WalletRecord
    {
        WalletRecord(
            owner: try identifier(row.text(0)), namespace: try identifier(row.text(1)),
            wallet: try identifier(row.text(2)), kind: try identifier(row.text(3)),
            label: try row.text(4), words: Int(try row.integer(5)), identity: try row.blob(6),
            mac: try row.blob(7))
    }

    private nonisolated static func identifier<T: TextIdentifier>(
        _ text: String
    ) throws(StorageError) -> T {
        guard let value = T(text) else { throw .damaged }
        return value
    }
}
