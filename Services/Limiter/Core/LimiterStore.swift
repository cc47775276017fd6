internal import Clocks
internal import LimiterMessages
internal import Secrets
internal import Serving
internal import Storage
internal import Wire

/// The limiter's tables.
///
/// The device secret stands in a table that a charge does not write, so that it is not copied with
/// every attempt.
struct LimiterStore {
    /// What is fixed when an owner is enrolled; the device secret is read on its own.
    struct Enrolment {
        let id: EnrolmentID
        let confirmKey: [UInt8]
    }

    /// The record's bytes as they stand and the number of the last charge.
    struct StoredLedger {
        let record: [UInt8]
        /// Nil where the row holds what no charge's number can be.
        let lastCharge: UInt64?
    }

    /// An attempt that was charged.
    struct Attempt {
        let id: AttemptID
        let charge: UInt64
        let chargedAt: BootMoment
        /// The answer to its confirmation; nil while it is open.
        var failedBefore: UInt64?
    }

    static let deviceSecretBytes = 32

    let database: Database

    // MARK: Owners

    func owners() throws(StorageError) -> [Owner] {
        try database.rows("SELECT owner FROM owners ORDER BY owner") {
            row throws(StorageError) in
            guard let owner = Owner(try row.text(0)) else { throw .damaged }
            return owner
        }
    }

    func ownerCount() throws(StorageError) -> Int {
        let count = try database.firstRow("SELECT count(*) FROM owners") {
            row throws(StorageError) in try row.integer(0)
        }
        return Int(count ?? 0)
    }

    func enrolment(of owner: Owner) throws(StorageError) -> Enrolment? {
        try database.firstRow(
            "SELECT enrolment, confirm_key FROM owners WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in
            guard let id = EnrolmentID(try row.blob(0)) else { throw .damaged }
            return Enrolment(id: id, confirmKey: try row.blob(1))
        }
    }

    func deviceSecret(of owner: Owner) throws(StorageError) -> SecretBytes {
        let found = try database.firstRow(
            "SELECT device_secret FROM owners WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in try row.secret(0) }
        guard let found, found.count == Self.deviceSecretBytes else { throw .damaged }
        return found
    }

    func enrol(
        _ owner: Owner, _ enrolment: Enrolment, deviceSecret: SharedSecret, ledger: AttemptLedger
    ) throws(StorageError) {
        try database.run(
            """
            INSERT INTO owners (owner, enrolment, confirm_key, device_secret)
            VALUES (?1, ?2, ?3, ?4)
            """, .text(owner.text), .blob(enrolment.id.bytes), .blob(enrolment.confirmKey),
            .secret(deviceSecret))
        try insert(ledger, of: owner)
    }

    /// Removes all that there is of an owner; key material is among it.
    func forget(_ owner: Owner, _ enrolment: EnrolmentID) throws(StorageError) {
        try database.run("DELETE FROM nonces WHERE enrolment = ?1", .blob(enrolment.bytes))
        try database.run("DELETE FROM attempts WHERE owner = ?1", .text(owner.text))
        try database.run("DELETE FROM ledgers WHERE owner = ?1", .text(owner.text))
        try database.run("DELETE FROM owners WHERE owner = ?1", .text(owner.text))
        database.oweErasure()
    }

    // MARK: Ledgers

    /// Nil where a known owner's row is missing, which is damage.
    func ledger(of owner: Owner) throws(StorageError) -> StoredLedger? {
        try database.firstRow(
            "SELECT record, last_charge FROM ledgers WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in
            let number = UInt64(exactly: try row.integer(1))
            return StoredLedger(
                record: try row.blob(0),
                lastCharge: number.flatMap { $0 <= Begin.chargeLimit ? $0 : nil })
        }
    }

    func save(_ ledger: AttemptLedger, of owner: Owner) throws(StorageError) {
        try database.run(
            "UPDATE ledgers SET record = ?2, last_charge = ?3 WHERE owner = ?1",
            .text(owner.text), .blob(ledger.record.encoded()), .number(ledger.lastCharge))
    }

    /// Puts a ledger in the place of one that cannot be relied on, or where there is none.
    ///
    /// - Parameter renumbers: whether charges go on from another number, so that open attempts,
    ///   which have numbers of before, end.
    func replace(
        _ ledger: AttemptLedger, of owner: Owner, renumbers: Bool
    ) throws(StorageError) {
        if renumbers {
            try database.run("DELETE FROM attempts WHERE owner = ?1", .text(owner.text))
        }
        try database.run("DELETE FROM ledgers WHERE owner = ?1", .text(owner.text))
        try insert(ledger, of: owner)
    }

    private func insert(_ ledger: AttemptLedger, of owner: Owner) throws(StorageError) {
        try database.run(
            "INSERT INTO ledgers (owner, record, last_charge) VALUES (?1, ?2, ?3)",
            .text(owner.text), .blob(ledger.record.encoded()), .number(ledger.lastCharge))
    }

    // MARK: Attempts

    /// How many attempts were ever charged in an enrolment.
    func chargeCount(in enrolment: EnrolmentID) throws(StorageError) -> UInt64 {
        try database.firstRow(
            "SELECT count(*) FROM nonces WHERE enrolment = ?1", .blob(enrolment.bytes)
        ) { row throws(StorageError) in try row.number(0) } ?? 0
    }

    func hasNonce(_ nonce: [UInt8], in enrolment: EnrolmentID) throws(StorageError) -> Bool {
        try database.firstRow(
            "SELECT 1 FROM nonces WHERE enrolment = ?1 AND nonce = ?2", .blob(enrolment.bytes),
            .blob(nonce)
        ) { row throws(StorageError) in try row.integer(0) } != nil
    }

    func add(
        _ attempt: Attempt, of owner: Owner, nonce: [UInt8], in enrolment: EnrolmentID
    ) throws(StorageError) {
        try database.run(
            "INSERT INTO nonces (enrolment, nonce) VALUES (?1, ?2)", .blob(enrolment.bytes),
            .blob(nonce))
        try database.run(
            """
            INSERT INTO attempts (id, owner, charge, boot, charged_at)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """, .blob(attempt.id.bytes), .text(owner.text), .number(attempt.charge),
            .text(attempt.chargedAt.bootID.text), .number(attempt.chargedAt.nanoseconds))
    }

    func attempt(_ id: AttemptID, of owner: Owner) throws(StorageError) -> Attempt? {
        try database.firstRow(
            """
            SELECT charge, boot, charged_at, failed_before FROM attempts
            WHERE id = ?1 AND owner = ?2
            """, .blob(id.bytes), .text(owner.text)
        ) { row throws(StorageError) in
            Attempt(
                id: id, charge: try row.number(0),
                chargedAt: BootMoment(
                    bootID: BootID(try row.text(1)), nanoseconds: try row.number(2)),
                failedBefore: row.isNull(3) ? nil : try row.number(3))
        }
    }

    /// Notes that an attempt was confirmed, and with which answer.
    func take(_ attempt: AttemptID, failedBefore: UInt64) throws(StorageError) {
        try database.run(
            "UPDATE attempts SET failed_before = ?2 WHERE id = ?1", .blob(attempt.bytes),
            .number(failedBefore))
    }

    /// Removes the attempts of other boots.
    func sweepAttempts(notOf boot: BootID) throws(StorageError) {
        try database.run("DELETE FROM attempts WHERE boot <> ?1", .text(boot.text))
    }

    /// Removes the attempts that were charged before a moment.
    func sweepAttempts(before nanoseconds: UInt64) throws(StorageError) {
        try database.run("DELETE FROM attempts WHERE charged_at < ?1", .number(nanoseconds))
    }

    // MARK: Schema

    static let ownerTables = [
        OwnerTable(
            find: """
                SELECT 1 FROM nonces WHERE enrolment IN
                (SELECT enrolment FROM owners WHERE owner = ?1) LIMIT 1
                """,
            delete: """
                DELETE FROM nonces WHERE enrolment IN
                (SELECT enrolment FROM owners WHERE owner = ?1)
                """,
            keep: """
                DELETE FROM nonces WHERE enrolment IN
                (SELECT enrolment FROM owners WHERE owner <> ?1)
                """),
        OwnerTable(
            find: "SELECT 1 FROM attempts WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM attempts WHERE owner = ?1",
            keep: "DELETE FROM attempts WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM ledgers WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM ledgers WHERE owner = ?1",
            keep: "DELETE FROM ledgers WHERE owner <> ?1"),
        OwnerTable(
            find: "SELECT 1 FROM owners WHERE owner = ?1 LIMIT 1",
            delete: "DELETE FROM owners WHERE owner = ?1",
            keep: "DELETE FROM owners WHERE owner <> ?1"),
    ]

    static let schemaStep = SchemaStep(
        "limiter",
        """
        CREATE TABLE owners (
            owner TEXT NOT NULL PRIMARY KEY,
            enrolment BLOB NOT NULL UNIQUE CHECK (length(enrolment) = 16),
            confirm_key BLOB NOT NULL CHECK (length(confirm_key) = 32),
            device_secret BLOB NOT NULL CHECK (length(device_secret) = 32)
        ) STRICT
        """,
        """
        CREATE TABLE ledgers (
            owner TEXT NOT NULL PRIMARY KEY REFERENCES owners (owner),
            record BLOB NOT NULL,
            last_charge INTEGER NOT NULL CHECK (last_charge BETWEEN 0 AND 9007199254740992)
        ) STRICT
        """,
        """
        CREATE TABLE attempts (
            id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
            owner TEXT NOT NULL REFERENCES owners (owner),
            charge INTEGER NOT NULL,
            boot TEXT NOT NULL,
            charged_at INTEGER NOT NULL,
            failed_before INTEGER
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX attempts_by_owner ON attempts (owner)",
        "CREATE INDEX attempts_by_age ON attempts (charged_at)",
        """
        CREATE TABLE nonces (
            enrolment BLOB NOT NULL REFERENCES owners (enrolment),
            nonce BLOB NOT NULL,
            PRIMARY KEY (enrolment, nonce)
        ) STRICT, WITHOUT ROWID
        """)
}

extension SQLValue {
    /// Charge numbers, counts and nanoseconds since the boot: all far below 2^63.
    fileprivate static func number(_ value: UInt64) -> SQLValue { .integer(Int64(clamping: value)) }
}

extension Row {
    fileprivate borrowing func number(_ column: Int32) throws(StorageError) -> UInt64 {
        guard let value = UInt64(exactly: try integer(column)) else { throw .damaged }
        return value
    }
}
