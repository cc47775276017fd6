internal import AuthorityMessages
internal import LimiterMessages
internal import Loop
internal import Secrets
internal import Serving
internal import Storage
internal import Wire

/// What the authority has of one owner.
struct StoredCredential: Sendable {
    var record: CredentialRecord
    /// The enrolment at the limiter that the passcode was set with.
    var enrolment: EnrolmentID?
    /// The highest number of a charge that was seen in that enrolment.
    ///
    /// A stored number that no charge can have stands as ``Begin/chargeLimit``, after which nothing
    /// is tried.
    var charge: UInt64

    /// Whether another charge can be numbered after it.
    var hasChargesLeft: Bool { charge < Begin.chargeLimit }
}

/// The authority's tables.
@ServiceLoop
final class AuthorityStore {
    let database: Database

    init(_ database: Database) { self.database = database }

    // MARK: Credentials

    /// An owner's credential; nil where there is none.
    ///
    /// Throws `credential.damaged` or `credential.unsupported_version` for one that cannot be read.
    func credential(of owner: Owner) throws -> StoredCredential? {
        let row = try database.firstRow(
            "SELECT record, enrolment, charge FROM credentials WHERE owner = ?1",
            .text(owner.text)
        ) { row throws(StorageError) in
            (
                SharedSecret(try row.secret(0)), try row.optionalBlob(1), try row.integer(2)
            )
        }
        guard let (document, enrolment, charge) = row else { return nil }
        return StoredCredential(
            record: try Self.record(document), enrolment: try enrolment.map(Self.enrolment),
            charge: min(UInt64(exactly: charge) ?? Begin.chargeLimit, Begin.chargeLimit))
    }

    private static func record(_ document: SharedSecret) throws(CredentialFault) -> CredentialRecord
    {
        do throws(CredentialRecordError) {
            return try CredentialRecord(decoding: document.bytes)
        } catch {
            throw error == .unsupportedVersion ? .unsupportedVersion : .damaged
        }
    }

    private static func enrolment(_ bytes: [UInt8]) throws(CredentialFault) -> EnrolmentID {
        guard let id = EnrolmentID(bytes) else { throw .damaged }
        return id
    }

    /// Writes record, enrolment and number as one; inside a write.
    ///
    /// What is kept of copies with tokens follows the record.
    func save(_ credential: StoredCredential, of owner: Owner) throws(StorageError) {
        try fitDeviceCopies(to: credential.record, of: owner)
        _ = try database.run(
            """
            INSERT OR REPLACE INTO credentials (owner, record, enrolment, charge)
            VALUES (?1, ?2, ?3, ?4)
            """, .text(owner.text), .secret(SharedSecret(credential.record.encode())),
            .optional(credential.enrolment?.bytes), .integer(Int64(credential.charge)))
    }

    /// Raises the number of the last charge that was seen; inside a write.
    func raiseCharge(to charge: UInt64, of owner: Owner) throws(StorageError) {
        _ = try database.run(
            "UPDATE credentials SET charge = ?2 WHERE owner = ?1 AND charge < ?2",
            .text(owner.text), .integer(Int64(charge)))
    }

    /// Puts a number in the place of one that cannot be relied on; inside a write.
    func renumber(after charge: UInt64, of owner: Owner) throws(StorageError) {
        _ = try database.run(
            "UPDATE credentials SET charge = ?2 WHERE owner = ?1", .text(owner.text),
            .integer(Int64(charge)))
    }

    /// The owners who have a credential, sorted.
    func owners() throws -> [Owner] {
        let names = try database.rows("SELECT owner FROM credentials ORDER BY owner") {
            row throws(StorageError) in try row.text(0)
        }
        return names.compactMap { Owner($0) }
    }

    func ownerCount() throws(StorageError) -> Int {
        let count = try database.firstRow("SELECT count(*) FROM credentials") {
            row throws(StorageError) in try row.integer(0)
        }
        return Int(count ?? 0)
    }

    // MARK: Tries

    /// Notes a try, before it is known what comes of it; inside a write.
    ///
    /// - Returns: its number, by which later ones are told from it.
    func note(_ one: FailedTry, of owner: Owner) throws(StorageError) -> Int64 {
        let last = try database.firstRow(
            "SELECT max(number) FROM tries WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in row.isNull(0) ? 0 : try row.integer(0) }
        let number = (last ?? 0) &+ 1
        _ = try database.run(
            "INSERT INTO tries (owner, number, at_ms, peer) VALUES (?1, ?2, ?3, ?4)",
            .text(owner.text), .integer(number), .integer(Int64(clamping: one.atMilliseconds)),
            .text(one.peer))
        // One more than is ever told: the last may turn out right.
        _ = try database.run(
            "DELETE FROM tries WHERE owner = ?1 AND number < ?2", .text(owner.text),
            .integer(number - Int64(FailedTry.keptLimit)))
        return number
    }

    /// The newest tries that were noted and not told, oldest first.
    ///
    /// - Parameters:
    ///   - number: only those before this one.
    ///   - open: not these, whose checks are under way.
    func tries(
        of owner: Owner, before number: Int64 = .max, without open: Set<Int64>
    ) throws -> [FailedTry] {
        let found = try database.rows(
            """
            SELECT at_ms, peer, number FROM tries WHERE owner = ?1 AND number < ?2
            ORDER BY number
            """, .text(owner.text), .integer(number)
        ) { row throws(StorageError) in
            let one = FailedTry(
                atMilliseconds: UInt64(clamping: try row.integer(0)), peer: try row.text(1))
            return (one, try row.integer(2))
        }
        let failed = found.filter { !open.contains($0.1) }.map(\.0)
        return Array(failed.suffix(FailedTry.keptLimit))
    }

    /// Drops a try that was right; inside a write.
    func dropTry(_ number: Int64, of owner: Owner) throws(StorageError) {
        _ = try database.run(
            "DELETE FROM tries WHERE owner = ?1 AND number = ?2", .text(owner.text),
            .integer(number))
    }

    /// Drops the tries that were told, but not those that were open then; inside a write.
    func dropTries(
        upTo number: Int64 = .max, of owner: Owner, without open: Set<Int64>
    ) throws(StorageError) {
        let numbers = try database.rows(
            "SELECT number FROM tries WHERE owner = ?1 AND number <= ?2", .text(owner.text),
            .integer(number)
        ) { row throws(StorageError) in try row.integer(0) }
        for number in numbers where !open.contains(number) { try dropTry(number, of: owner) }
    }

    // MARK: Policies

    /// What a signature of the owner needs; a proof where nothing was set.
    func signPolicy(of owner: Owner) throws -> SignPolicy {
        let text = try database.firstRow(
            "SELECT sign_policy FROM policies WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in try row.text(0) }
        guard let text else { return .proof }
        guard let policy = SignPolicy(text) else { throw CredentialFault.damaged }
        return policy
    }

    /// Inside a write.
    func setSignPolicy(_ policy: SignPolicy, of owner: Owner) throws(StorageError) {
        _ = try database.run(
            "INSERT OR REPLACE INTO policies (owner, sign_policy) VALUES (?1, ?2)",
            .text(owner.text), .text(policy.text))
    }

    /// Goes back to what stands where nothing was set; inside a write.
    func dropSignPolicy(of owner: Owner) throws(StorageError) {
        _ = try database.run("DELETE FROM policies WHERE owner = ?1", .text(owner.text))
    }

    // MARK: Removals

    func removal(of owner: Owner) throws -> Removal? {
        let row = try database.firstRow(
            "SELECT removal, kind, wiped FROM removals WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in
            (try row.blob(0), try row.text(1), try row.text(2))
        }
        guard let (bytes, kind, wiped) = row else { return nil }
        let isFresh = kind == Self.freshReset
        guard let id = RemovalID(bytes), let kind = isFresh ? .reset : RemovalKind(kind) else {
            throw CredentialFault.damaged
        }
        let services = wiped.split(separator: " ").compactMap { ServiceName(String($0)) }
        return Removal(id: id, kind: kind, isFresh: isFresh, wiped: Set(services))
    }

    /// Inside a write.
    func save(_ removal: Removal, of owner: Owner) throws(StorageError) {
        let wiped = removal.wiped.map(\.text).sorted().joined(separator: " ")
        _ = try database.run(
            """
            INSERT OR REPLACE INTO removals (owner, removal, kind, wiped)
            VALUES (?1, ?2, ?3, ?4)
            """, .text(owner.text), .blob(removal.id.bytes),
            .text(removal.isFresh ? Self.freshReset : removal.kind.text), .text(wiped))
    }

    /// What stands in the place of a kind for a reset that was begun because nobody knew the owner.
    private static let freshReset = "fresh"

    /// Inside a write.
    func dropRemoval(of owner: Owner) throws(StorageError) {
        _ = try database.run("DELETE FROM removals WHERE owner = ?1", .text(owner.text))
    }

    /// Whether anything stands here of the owner, be it nothing that can be read.
    func knows(_ owner: Owner) throws(StorageError) -> Bool {
        try database.hasRows(of: owner, in: Self.tablesOfOwners)
    }

    func ownersBeingRemoved() throws -> [Owner] {
        let names = try database.rows("SELECT owner FROM removals ORDER BY owner") {
            row throws(StorageError) in try row.text(0)
        }
        return names.compactMap { Owner($0) }
    }

    /// The enrolment that stands beside a record, whether that can be read or not.
    func enrolment(of owner: Owner) throws(StorageError) -> EnrolmentID? {
        let bytes = try database.firstRow(
            "SELECT enrolment FROM credentials WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in try row.optionalBlob(0) }
        return (bytes ?? nil).flatMap { EnrolmentID($0) }
    }

    /// Removes all of an owner but the enrolments that were forgotten and what is kept of copies
    /// with tokens; inside a write.
    func dropCredential(of owner: Owner) throws(StorageError) {
        for table in Self.credentialTables {
            _ = try database.run(table.delete, .text(owner.text))
        }
    }

    // MARK: Forgotten enrolments

    /// Whether the limiter was told to forget this enrolment.
    ///
    /// One that still knows it was put back from an older copy, and is told again.
    func isForgotten(_ enrolment: EnrolmentID, of owner: Owner) throws(StorageError) -> Bool {
        let found = try database.firstRow(
            "SELECT 1 FROM forgotten WHERE owner = ?1 AND enrolment = ?2", .text(owner.text),
            .blob(enrolment.bytes)
        ) { row throws(StorageError) in try row.integer(0) }
        return found != nil
    }

    /// Inside a write.
    func markForgotten(_ enrolment: EnrolmentID, of owner: Owner) throws(StorageError) {
        _ = try database.run(
            "INSERT OR IGNORE INTO forgotten (owner, enrolment) VALUES (?1, ?2)",
            .text(owner.text), .blob(enrolment.bytes))
    }
}

extension AuthorityStore {
    /// The shape of the store.
    nonisolated static let schema = Schema(steps: [
        OutcomeJournal.schemaStep,
        SchemaStep(
            "credentials",
            """
            CREATE TABLE credentials (
                owner TEXT PRIMARY KEY NOT NULL,
                record BLOB NOT NULL,
                enrolment BLOB,
                charge INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE policies (
                owner TEXT PRIMARY KEY NOT NULL,
                sign_policy TEXT NOT NULL
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE forgotten (
                owner TEXT NOT NULL,
                enrolment BLOB NOT NULL,
                PRIMARY KEY (owner, enrolment)
            ) STRICT, WITHOUT ROWID
            """),
        SchemaStep(
            "tries",
            """
            CREATE TABLE tries (
                owner TEXT NOT NULL,
                number INTEGER NOT NULL,
                at_ms INTEGER NOT NULL,
                peer TEXT NOT NULL CHECK (length(peer) <= 64),
                PRIMARY KEY (owner, number)
            ) STRICT, WITHOUT ROWID
            """),
        SchemaStep(
            "removals",
            """
            CREATE TABLE removals (
                owner TEXT PRIMARY KEY NOT NULL,
                removal BLOB NOT NULL CHECK (length(removal) = 16),
                kind TEXT NOT NULL,
                wiped TEXT NOT NULL
            ) STRICT, WITHOUT ROWID
            """),
        deviceCopiesStep,
        // Without it, counting owners reads every record.
        SchemaStep(
            "names of owners", "CREATE INDEX credentials_by_owner ON credentials (owner)"),
    ])

    nonisolated static let ownerTables =
        tablesOfOwners + [
            OwnerTable(
                find: "SELECT 1 FROM forgotten WHERE owner = ?1 LIMIT 1",
                delete: "DELETE FROM forgotten WHERE owner = ?1",
                keep: "DELETE FROM forgotten WHERE owner <> ?1")
        ]

    /// Those that say that somebody is there: all but the enrolments that were forgotten, which
    /// stay for ever and are of nobody who is still there.
    private nonisolated static let tablesOfOwners = credentialTables + [deviceCopiesTable]

    /// Those that a reset empties; what is kept of copies with tokens follows the record.
    private nonisolated static let credentialTables = [
        OwnerTable(
            find: "SELECT 1 FROM credentials WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM credentials WHERE owner = ?1",
            keep: "DELETE FROM credentials WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM policies WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM policies WHERE owner = ?1",
            keep: "DELETE FROM policies WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM tries WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM tries WHERE owner = ?1",
            keep: "DELETE FROM tries WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM removals WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM removals WHERE owner = ?1",
            keep: "DELETE FROM removals WHERE owner <> ?1"),
    ]
}
