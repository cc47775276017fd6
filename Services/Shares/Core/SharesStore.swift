internal import Loop
internal import Serving
internal import SharesMessages
internal import Storage
internal import VaultMessages
internal import Wire

/// The tables of backup-shares: holders, manifests of splits, restorations.
///
/// There is never a share in them, nor a phrase. What belongs to one of them stands in a file of
/// its own.
@ServiceLoop
final class SharesStore {
    /// The shape of the database, the journal of outcomes included.
    nonisolated static let schema = Schema(steps: [
        OutcomeJournal.schemaStep,
        SchemaStep(
            "holders, splits and restorations",
            """
            CREATE TABLE holders (
                owner TEXT NOT NULL,
                name TEXT NOT NULL,
                public_key BLOB NOT NULL,
                unsigned_key BLOB NOT NULL,
                added INTEGER NOT NULL,
                PRIMARY KEY (owner, name),
                UNIQUE (owner, unsigned_key)
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE splits (
                position INTEGER PRIMARY KEY AUTOINCREMENT,
                owner TEXT NOT NULL,
                namespace TEXT NOT NULL,
                split BLOB NOT NULL,
                kind TEXT NOT NULL,
                network TEXT,
                identity BLOB NOT NULL,
                words INTEGER NOT NULL,
                made INTEGER NOT NULL,
                mac BLOB,
                UNIQUE (owner, namespace, split)
            ) STRICT
            """,
            "CREATE INDEX splits_by_age ON splits (owner, namespace, position)",
            "CREATE INDEX splits_by_wallet ON splits (owner, namespace, identity, position)",
            """
            CREATE INDEX unconfirmed_splits ON splits (owner, namespace, position)
            WHERE mac IS NULL
            """,
            """
            CREATE TABLE shares (
                owner TEXT NOT NULL,
                namespace TEXT NOT NULL,
                split BLOB NOT NULL,
                place INTEGER NOT NULL,
                holder TEXT NOT NULL,
                public_key BLOB NOT NULL,
                digest BLOB NOT NULL,
                file BLOB NOT NULL,
                PRIMARY KEY (owner, namespace, split, place)
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE restorations (
                position INTEGER PRIMARY KEY AUTOINCREMENT,
                owner TEXT NOT NULL,
                namespace TEXT NOT NULL,
                restoration BLOB NOT NULL,
                public_key BLOB NOT NULL,
                sealed BLOB NOT NULL,
                begun INTEGER NOT NULL,
                UNIQUE (owner, namespace, restoration)
            ) STRICT
            """,
            """
            CREATE TABLE imports (
                owner TEXT NOT NULL,
                namespace TEXT NOT NULL,
                restoration BLOB NOT NULL,
                key BLOB NOT NULL,
                ticket BLOB NOT NULL,
                kind TEXT NOT NULL,
                network TEXT,
                identity BLOB NOT NULL,
                words INTEGER NOT NULL,
                PRIMARY KEY (owner, namespace, restoration)
            ) STRICT, WITHOUT ROWID
            """),
    ])

    nonisolated static let ownerTables = [
        OwnerTable(
            find: "SELECT 1 FROM imports WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM imports WHERE owner = ?1",
            keep: "DELETE FROM imports WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM restorations WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM restorations WHERE owner = ?1",
            keep: "DELETE FROM restorations WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM shares WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM shares WHERE owner = ?1",
            keep: "DELETE FROM shares WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM splits WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM splits WHERE owner = ?1",
            keep: "DELETE FROM splits WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM holders WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM holders WHERE owner = ?1",
            keep: "DELETE FROM holders WHERE owner <> ?1"),
    ]

    let database: Database

    init(database: Database) { self.database = database }

    func owners() throws(StorageError) -> [Owner] {
        try database.rows(
            """
            SELECT owner FROM holders UNION SELECT owner FROM splits
            UNION SELECT owner FROM restorations ORDER BY owner
            """
        ) { row throws(StorageError) in try Self.identifier(row.text(0)) }
    }

    func ownerCount() throws(StorageError) -> Int {
        let count = try database.firstRow(
            """
            SELECT count(*) FROM (
                SELECT owner FROM holders UNION SELECT owner FROM splits
                UNION SELECT owner FROM restorations
            )
            """
        ) { row throws(StorageError) in try row.integer(0) }
        return Int(count ?? 0)
    }

    /// How many there are of all owners together.
    struct Counts {
        var holders = 0
        var splits = 0
        var restorations = 0
    }

    func counts() throws(StorageError) -> Counts {
        let counts = try database.firstRow(
            """
            SELECT (SELECT count(*) FROM holders), (SELECT count(*) FROM splits),
            (SELECT count(*) FROM restorations)
            """
        ) { row throws(StorageError) in
            Counts(
                holders: Int(try row.integer(0)), splits: Int(try row.integer(1)),
                restorations: Int(try row.integer(2)))
        }
        return counts ?? Counts()
    }
}

// MARK: Reading rows

extension SharesStore {
    nonisolated static func identifier<T: TextIdentifier>(_ text: String) throws(StorageError) -> T
    {
        guard let value = T(text) else { throw .damaged }
        return value
    }

    nonisolated static func name<T>(_ bytes: [UInt8]) throws(StorageError) -> Identifier<T> {
        guard let name = Identifier<T>(bytes) else { throw .damaged }
        return name
    }

    nonisolated static func number(_ integer: Int64) throws(StorageError) -> UInt64 {
        guard let number = UInt64(exactly: integer) else { throw .damaged }
        return number
    }

    /// A wallet from four columns: kind, network, identity, words.
    nonisolated static func wallet(
        _ row: borrowing Row, from column: Int32
    ) throws(StorageError) -> SharedWallet {
        let kind: WalletKind = try identifier(row.text(column))
        var network: WalletNetwork?
        if let text = try row.optionalText(column + 1) { network = try identifier(text) }
        return SharedWallet(
            kind: kind, network: network, identity: try row.blob(column + 2),
            words: Int(try row.integer(column + 3)))
    }
}
