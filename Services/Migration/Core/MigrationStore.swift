internal import Loop
internal import MigrationMessages
internal import Serving
internal import Storage
internal import VaultMessages
internal import Wire

/// The migration's tables: the ledger of wallets that were taken in, and the sources that runs were
/// over.
@ServiceLoop
final class MigrationStore {
    /// The shape of the migration's database, the journal of outcomes included.
    nonisolated static let schema = Schema(steps: [
        OutcomeJournal.schemaStep,
        SchemaStep(
            "ledger and sources",
            """
            CREATE TABLE ledger (
                owner TEXT NOT NULL,
                legacy TEXT NOT NULL,
                network TEXT NOT NULL,
                identity BLOB NOT NULL,
                namespace TEXT NOT NULL,
                wallet TEXT NOT NULL,
                source BLOB NOT NULL,
                migrated INTEGER NOT NULL,
                PRIMARY KEY (owner, legacy)
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE sources (
                owner TEXT NOT NULL,
                digest BLOB NOT NULL,
                path TEXT NOT NULL,
                done INTEGER NOT NULL,
                deferred_unknown_chain INTEGER NOT NULL,
                deferred_failure INTEGER NOT NULL,
                set_aside INTEGER NOT NULL,
                in_ledger INTEGER NOT NULL,
                listed INTEGER NOT NULL,
                orphaned INTEGER NOT NULL,
                undetermined INTEGER NOT NULL,
                unknown_chain INTEGER NOT NULL,
                damaged INTEGER NOT NULL,
                last_run INTEGER NOT NULL,
                position INTEGER NOT NULL,
                PRIMARY KEY (owner, digest)
            ) STRICT, WITHOUT ROWID
            """),
        SchemaStep(
            "wallets that the vault or the source lacks",
            "ALTER TABLE ledger ADD COLUMN missing INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE sources ADD COLUMN missing INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE sources ADD COLUMN phraseless INTEGER NOT NULL DEFAULT 0"),
    ])

    nonisolated static let ownerTables = [
        OwnerTable(
            find: "SELECT 1 FROM ledger WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM ledger WHERE owner = ?1",
            keep: "DELETE FROM ledger WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM sources WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM sources WHERE owner = ?1",
            keep: "DELETE FROM sources WHERE owner <> ?1"),
    ]

    private let database: Database

    init(database: Database) { self.database = database }

    func owners() throws(StorageError) -> [Owner] {
        try database.rows(
            "SELECT owner FROM ledger UNION SELECT owner FROM sources ORDER BY 1"
        ) { row throws(StorageError) in try row.identifier(0) }
    }

    func ownerCount() throws(StorageError) -> Int {
        let count = try database.firstRow(
            """
            SELECT count(*) FROM (SELECT owner FROM ledger UNION SELECT owner FROM sources)
            """
        ) { row throws(StorageError) in try row.integer(0) }
        return Int(count ?? 0)
    }

    // MARK: The ledger

    /// Tells every wallet that an owner's runs took in, and whether the vault is known to lack it.
    func eachSettled(
        of owner: Owner, _ body: (_ id: LegacyID, _ isMissing: Bool) -> Void
    ) throws(StorageError) {
        _ = try database.rows(
            "SELECT legacy, missing FROM ledger WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in
            body(LegacyID(try row.text(0)), try row.integer(1) != 0)
        }
    }

    /// Tells those of one network that were taken into one namespace, in the order of their ids.
    func eachSettled(
        of owner: Owner, on network: WalletNetwork, in namespace: Namespace,
        _ body: (LegacyID) -> Void
    ) throws(StorageError) {
        _ = try database.rows(
            """
            SELECT legacy FROM ledger WHERE owner = ?1 AND network = ?2 AND namespace = ?3
            ORDER BY legacy
            """, .text(owner.text), .text(network.text), .text(namespace.text)
        ) { row throws(StorageError) in body(LegacyID(try row.text(0))) }
    }

    /// Tells where each was taken in, places in the order of their names.
    func eachPlace(
        of owner: Owner,
        _ body: (_ id: LegacyID, _ network: WalletNetwork, _ namespace: Namespace) -> Void
    ) throws(StorageError) {
        _ = try database.rows(
            """
            SELECT legacy, network, namespace FROM ledger WHERE owner = ?1
            ORDER BY network, namespace
            """, .text(owner.text)
        ) { row throws(StorageError) in
            body(LegacyID(try row.text(0)), try row.identifier(1), try row.identifier(2))
        }
    }

    func entry(of wallet: LegacyID, owner: Owner) throws(StorageError) -> LedgerEntry? {
        try database.firstRow(
            """
            SELECT network, identity, namespace, wallet, source, migrated, missing
            FROM ledger WHERE owner = ?1 AND legacy = ?2
            """, .text(owner.text), .text(wallet.text)
        ) { row throws(StorageError) in
            LedgerEntry(
                legacy: wallet, network: try row.identifier(0), identity: try row.blob(1),
                namespace: try row.identifier(2), wallet: try row.identifier(3),
                source: try row.blob(4), migrated: try row.count(5),
                isMissing: try row.integer(6) != 0)
        }
    }

    /// Notes a wallet that was taken in, or that was found taken in, in place of what stood there.
    func add(_ entry: LedgerEntry, owner: Owner) throws(StorageError) {
        try database.run(
            """
            INSERT OR REPLACE INTO ledger
            (owner, legacy, network, identity, namespace, wallet, source, migrated, missing)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """, .text(owner.text), .text(entry.legacy.text), .text(entry.network.text),
            .blob(entry.identity), .text(entry.namespace.text), .text(entry.wallet.text),
            .blob(entry.source), .integer(Int64(clamping: entry.migrated)),
            .integer(entry.isMissing ? 1 : 0))
    }

    func walletCount() throws(StorageError) -> UInt64 {
        try database.firstRow("SELECT count(*) FROM ledger") { row throws(StorageError) in
            try row.count(0)
        } ?? 0
    }

    func walletCount(
        of owner: Owner, on network: WalletNetwork
    ) throws(StorageError) -> UInt64 {
        try database.firstRow(
            "SELECT count(*) FROM ledger WHERE owner = ?1 AND network = ?2", .text(owner.text),
            .text(network.text)
        ) { row throws(StorageError) in try row.count(0) } ?? 0
    }

    /// Wallets of an owner's ledger that the vault did not have when they were looked for last.
    func missingCount(of owner: Owner) throws(StorageError) -> UInt64 {
        try database.firstRow(
            "SELECT count(*) FROM ledger WHERE owner = ?1 AND missing <> 0", .text(owner.text)
        ) { row throws(StorageError) in try row.count(0) } ?? 0
    }

    // MARK: Sources

    func source(
        _ digest: [UInt8], of owner: Owner
    ) throws(StorageError) -> AskMigrationStatus.Reply.Source? {
        try database.firstRow(
            """
            SELECT digest, path, done, deferred_unknown_chain, deferred_failure, set_aside,
                in_ledger, listed, orphaned, undetermined, unknown_chain, damaged, last_run,
                missing, phraseless
            FROM sources WHERE owner = ?1 AND digest = ?2
            """, .text(owner.text), .blob(digest)
        ) { row throws(StorageError) in try Self.source(row) }
    }

    /// The last one first.
    func sources(
        of owner: Owner, limit: Int
    ) throws(StorageError) -> [AskMigrationStatus.Reply.Source] {
        try database.rows(
            """
            SELECT digest, path, done, deferred_unknown_chain, deferred_failure, set_aside,
                in_ledger, listed, orphaned, undetermined, unknown_chain, damaged, last_run,
                missing, phraseless
            FROM sources WHERE owner = ?1 ORDER BY position DESC LIMIT ?2
            """, .text(owner.text), .integer(Int64(limit))
        ) { row throws(StorageError) in try Self.source(row) }
    }

    private nonisolated static func source(
        _ row: borrowing Row
    ) throws(StorageError) -> AskMigrationStatus.Reply.Source {
        AskMigrationStatus.Reply.Source(
            digest: try row.blob(0), path: try row.text(1), done: try row.integer(2) != 0,
            deferredUnknownChain: try row.integer(3) != 0,
            deferredFailure: try row.integer(4) != 0, setAside: try row.integer(5) != 0,
            lastRun: try row.count(12),
            counts: ClassCounts(
                inLedger: try row.count(6), missing: try row.count(13),
                listed: try row.count(7), orphaned: try row.count(8),
                undetermined: try row.count(9), unknownChain: try row.count(10),
                damaged: try row.count(11), phraseless: try row.count(14)))
    }

    /// Notes how a source stands, in place of what stood there; it becomes the last one.
    func put(
        _ source: AskMigrationStatus.Reply.Source, owner: Owner
    ) throws(StorageError) {
        let counts = source.counts
        try database.run(
            """
            INSERT OR REPLACE INTO sources
            (owner, digest, path, done, deferred_unknown_chain, deferred_failure, set_aside,
                in_ledger, listed, orphaned, undetermined, unknown_chain, damaged, last_run,
                missing, phraseless, position)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                (SELECT coalesce(max(position), 0) + 1 FROM sources WHERE owner = ?1))
            """, .text(owner.text), .blob(source.digest), .text(source.path),
            .integer(source.done ? 1 : 0), .integer(source.deferredUnknownChain ? 1 : 0),
            .integer(source.deferredFailure ? 1 : 0), .integer(source.setAside ? 1 : 0),
            .integer(Int64(clamping: counts.inLedger)), .integer(Int64(clamping: counts.listed)),
            .integer(Int64(clamping: counts.orphaned)),
            .integer(Int64(clamping: counts.undetermined)),
            .integer(Int64(clamping: counts.unknownChain)),
            .integer(Int64(clamping: counts.damaged)), .integer(Int64(clamping: source.lastRun)),
            .integer(Int64(clamping: counts.missing)),
            .integer(Int64(clamping: counts.phraseless)))
    }
}

/// A legacy wallet that was taken in.
struct LedgerEntry: Equatable, Sendable {
    let legacy: LegacyID
    let network: WalletNetwork
    /// Its 32-byte SDK id on that network.
    let identity: [UInt8]
    let namespace: Namespace
    var wallet: WalletID
    /// SHA-256 of the source that it came from.
    let source: [UInt8]
    /// When, in seconds since 1970.
    let migrated: UInt64
    /// Whether the vault did not have it when it was looked for last.
    var isMissing = false
}

extension Row {
    fileprivate func count(_ column: Int32) throws(StorageError) -> UInt64 {
        guard let count = UInt64(exactly: try integer(column)) else { throw .damaged }
        return count
    }

    fileprivate func identifier<T: TextIdentifier>(_ column: Int32) throws(StorageError) -> T {
        guard let value = T(try text(column)) else { throw .damaged }
        return value
    }
}
