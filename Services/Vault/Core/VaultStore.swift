internal import Loop
internal import Serving
internal import Storage
internal import VaultMessages
internal import Wire

/// The vault's tables: wallets in clear, their envelopes, and how many each namespace has.
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
        SchemaStep(
            "networks of wallets",
            """
            ALTER TABLE wallets ADD COLUMN network TEXT
            """),
        // Counting rows at each import would take the longer the more there are.
        SchemaStep(
            "numbers of wallets",
            """
            CREATE TABLE namespaces (
                owner TEXT NOT NULL,
                namespace TEXT NOT NULL,
                wallets INTEGER NOT NULL,
                PRIMARY KEY (owner, namespace)
            ) STRICT, WITHOUT ROWID
            """,
            """
            INSERT INTO namespaces (owner, namespace, wallets)
            SELECT owner, namespace, count(*) FROM wallets GROUP BY owner, namespace
            """,
            """
            CREATE TRIGGER wallet_added AFTER INSERT ON wallets BEGIN
                INSERT INTO namespaces (owner, namespace, wallets)
                VALUES (NEW.owner, NEW.namespace, 1)
                ON CONFLICT (owner, namespace) DO UPDATE SET wallets = wallets + 1;
            END
            """,
            """
            CREATE TRIGGER wallet_removed AFTER DELETE ON wallets BEGIN
                UPDATE namespaces SET wallets = wallets - 1
                WHERE owner = OLD.owner AND namespace = OLD.namespace;
                DELETE FROM namespaces
                WHERE owner = OLD.owner AND namespace = OLD.namespace AND wallets <= 0;
            END
            """),
        // A migration brings in thousands of wallets within a minute.
        OutcomeJournal.settlingStep,
    ])

    nonisolated static let ownerTables = [
        OwnerTable(
            find: "SELECT 1 FROM envelopes WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM envelopes WHERE owner = ?1",
            keep: "DELETE FROM envelopes WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM wallets WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM wallets WHERE owner = ?1",
            keep: "DELETE FROM wallets WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM namespaces WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM namespaces WHERE owner = ?1",
            keep: "DELETE FROM namespaces WHERE owner <> ?1"),
    ]

    private let database: Database

    init(database: Database) { self.database = database }

    // MARK: Wallets

    func row(
        of wallet: WalletID, owner: Owner, namespace: Namespace
    ) throws(StorageError) -> WalletRow? {
        try database.firstRow(
            """
            SELECT position, owner, namespace, wallet, kind, network, label, words, identity, mac
            FROM wallets WHERE owner = ?1 AND namespace = ?2 AND wallet = ?3
            """, .text(owner.text), .text(namespace.text), .text(wallet.text)
        ) { row throws(StorageError) in try WalletRow(row) }
    }

    /// The one wallet of a namespace that has an identity.
    func row(
        withIdentity identity: [UInt8], owner: Owner, namespace: Namespace
    ) throws(StorageError) -> WalletRow? {
        try database.firstRow(
            """
            SELECT position, owner, namespace, wallet, kind, network, label, words, identity, mac
            FROM wallets WHERE owner = ?1 AND namespace = ?2 AND identity = ?3
            """, .text(owner.text), .text(namespace.text), .blob(identity)
        ) { row throws(StorageError) in try WalletRow(row) }
    }

    /// Whether the record's namespace has a wallet of the same identity.
    func hasWallet(like record: WalletRecord) throws(StorageError) -> Bool {
        try database.firstRow(
            "SELECT 1 FROM wallets WHERE owner = ?1 AND namespace = ?2 AND identity = ?3",
            .text(record.owner.text), .text(record.namespace.text), .blob(record.identity)
        ) { row throws(StorageError) in try row.integer(0) } != nil
    }

    /// Some wallets of a namespace, oldest first, from the one after `wallet` on.
    ///
    /// - Returns: nil where there is no wallet to begin after.
    func page(
        after wallet: WalletID?, owner: Owner, namespace: Namespace, limit: Int
    ) throws(StorageError) -> WalletPage? {
        var position: Int64 = 0
        if let wallet {
            let found = try self.position(of: wallet, owner: owner, namespace: namespace)
            guard let found else { return nil }
            position = found
        }
        var page = WalletPage(limit: limit)
        while true {
            let rows = try database.rows(
                """
                SELECT position, owner, namespace, wallet, kind, network, label, words, identity,
                    mac FROM wallets
                WHERE owner = ?1 AND namespace = ?2 AND position > ?3 ORDER BY position LIMIT ?4
                """, .text(owner.text), .text(namespace.text), .integer(position),
                .integer(Int64(limit + 1))
            ) { row throws(StorageError) in (try row.integer(0), try WalletRow(row)) }
            for (place, row) in rows {
                guard page.take(row) else { return page }
                position = place
            }
            if rows.count <= limit { return page }
        }
    }

    private func position(
        of wallet: WalletID, owner: Owner, namespace: Namespace
    ) throws(StorageError) -> Int64? {
        try database.firstRow(
            "SELECT position FROM wallets WHERE owner = ?1 AND namespace = ?2 AND wallet = ?3",
            .text(owner.text), .text(namespace.text), .text(wallet.text)
        ) { row throws(StorageError) in try row.integer(0) }
    }

    func walletCount(
        of owner: Owner, in namespace: Namespace
    ) throws(StorageError) -> Int {
        let count = try database.firstRow(
            "SELECT wallets FROM namespaces WHERE owner = ?1 AND namespace = ?2",
            .text(owner.text), .text(namespace.text)
        ) { row throws(StorageError) in try row.integer(0) }
        return Int(count ?? 0)
    }

    func walletCount() throws(StorageError) -> Int {
        let count = try database.firstRow("SELECT coalesce(sum(wallets), 0) FROM namespaces") {
            row throws(StorageError) in try row.integer(0)
        }
        return Int(count ?? 0)
    }

    func owners() throws(StorageError) -> [Owner] {
        try database.rows("SELECT DISTINCT owner FROM namespaces ORDER BY owner") {
            row throws(StorageError) in
            guard let owner = Owner(try row.text(0)) else { throw .damaged }
            return owner
        }
    }

    func ownerCount() throws(StorageError) -> Int {
        let count = try database.firstRow("SELECT count(DISTINCT owner) FROM namespaces") {
            row throws(StorageError) in try row.integer(0)
        }
        return Int(count ?? 0)
    }

    /// Whether no table has a row of the owner, be it one that belongs to no wallet.
    func isEmpty(of owner: Owner) throws(StorageError) -> Bool {
        try !database.hasRows(of: owner, in: Self.ownerTables)
    }

    /// Adds a wallet with its envelopes; part of a step that the caller makes.
    func add(
        _ record: WalletRecord, envelopes: [EnvelopeSlot: [UInt8]]
    ) throws(StorageError) {
        try database.run(
            """
            INSERT INTO wallets
            (owner, namespace, wallet, kind, network, label, words, identity, mac)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """, .text(record.owner.text), .text(record.namespace.text),
            .text(record.wallet.text), .text(record.family.kind.text),
            .optional(record.family.network?.text), .text(record.label),
            .integer(Int64(record.words)), .blob(record.identity), .blob(record.mac))
        for (slot, document) in envelopes {
            try database.run(
                "INSERT INTO envelopes (owner, namespace, ref, document) VALUES (?1, ?2, ?3, ?4)",
                .text(record.owner.text), .text(record.namespace.text),
                .text(slot.reference(of: record.wallet)), .blob(document))
        }
    }

    /// Removes a wallet and whatever lies in its slots; part of a step that the caller makes.
    func remove(
        _ wallet: WalletID, owner: Owner, namespace: Namespace
    ) throws(StorageError) {
        for slot in EnvelopeSlot.allCases {
            try database.run(
                "DELETE FROM envelopes WHERE owner = ?1 AND namespace = ?2 AND ref = ?3",
                .text(owner.text), .text(namespace.text), .text(slot.reference(of: wallet)))
        }
        try database.run(
            "DELETE FROM wallets WHERE owner = ?1 AND namespace = ?2 AND wallet = ?3",
            .text(owner.text), .text(namespace.text), .text(wallet.text))
    }

    // MARK: Envelopes

    /// The document in one of a wallet's slots, or nil where there is none.
    func envelopes(of record: WalletRecord) throws(StorageError) -> EnvelopeDocuments {
        EnvelopeDocuments(
            phrase: try envelope(.phrase, of: record), seed: try envelope(.seed, of: record))
    }

    func envelope(
        _ slot: EnvelopeSlot, of record: WalletRecord
    ) throws(StorageError) -> [UInt8]? {
        try database.firstRow(
            "SELECT document FROM envelopes WHERE owner = ?1 AND namespace = ?2 AND ref = ?3",
            .text(record.owner.text), .text(record.namespace.text),
            .text(slot.reference(of: record.wallet))
        ) { row throws(StorageError) in try row.blob(0) }
    }
}
