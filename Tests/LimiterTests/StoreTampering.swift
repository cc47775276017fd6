import Clocks
import LimiterCore
import Loop
import Storage
import TestKit
import Wire

/// All that a store has of one owner.
struct StoreCopy {
    let secrets: [[SQLValue]]
    let ledgers: [[SQLValue]]
    let attempts: [[SQLValue]]
    let nonces: [[SQLValue]]
}

/// What somebody with the file, and not through the service, can do.
extension LimiterRig {
    func copyStore(of owner: Owner) throws -> StoreCopy {
        let name = SQLValue.text(owner.text)
        return StoreCopy(
            secrets: try database.rows(
                "SELECT owner, enrolment, confirm_key, device_secret FROM owners WHERE owner = ?1",
                name
            ) { row throws(StorageError) in
                [
                    .text(try row.text(0)), .blob(try row.blob(1)), .blob(try row.blob(2)),
                    .blob(try row.blob(3)),
                ]
            },
            ledgers: try database.rows(
                "SELECT owner, record, last_charge FROM ledgers WHERE owner = ?1", name
            ) { row throws(StorageError) in
                [
                    .text(try row.text(0)), .blob(try row.blob(1)),
                    .integer(try row.integer(2)),
                ]
            },
            attempts: try database.rows(
                """
                SELECT id, owner, charge, boot, charged_at, failed_before FROM attempts
                WHERE owner = ?1
                """, name
            ) { row throws(StorageError) in
                [
                    .blob(try row.blob(0)), .text(try row.text(1)), .integer(try row.integer(2)),
                    .text(try row.text(3)), .integer(try row.integer(4)),
                    .optional(try row.optionalInteger(5)),
                ]
            },
            nonces: try database.rows(
                """
                SELECT nonces.enrolment, nonce FROM nonces
                JOIN owners ON owners.enrolment = nonces.enrolment WHERE owner = ?1
                """, name
            ) { row throws(StorageError) in [.blob(try row.blob(0)), .blob(try row.blob(1))] })
    }

    func putBack(_ copy: StoreCopy, of owner: Owner) throws {
        let name = SQLValue.text(owner.text)
        try change {
            try database.run(
                """
                DELETE FROM nonces WHERE enrolment IN
                (SELECT enrolment FROM owners WHERE owner = ?1)
                """, name)
            try database.run("DELETE FROM attempts WHERE owner = ?1", name)
            try database.run("DELETE FROM ledgers WHERE owner = ?1", name)
            try database.run("DELETE FROM owners WHERE owner = ?1", name)
            for row in copy.secrets {
                try database.run(
                    "INSERT INTO owners VALUES (?1, ?2, ?3, ?4)", row[0], row[1], row[2], row[3])
            }
            for row in copy.ledgers {
                try database.run("INSERT INTO ledgers VALUES (?1, ?2, ?3)", row[0], row[1], row[2])
            }
            for row in copy.attempts {
                try database.run(
                    "INSERT INTO attempts VALUES (?1, ?2, ?3, ?4, ?5, ?6)", row[0], row[1],
                    row[2], row[3], row[4], row[5])
            }
            for row in copy.nonces {
                try database.run("INSERT INTO nonces VALUES (?1, ?2)", row[0], row[1])
            }
        }
    }

    func storedLedger(of owner: Owner) throws -> [UInt8]? { try record(of: owner) }

    func setConfirmKey(_ key: [UInt8], of owner: Owner) throws {
        try change {
            try database.run(
                "UPDATE owners SET confirm_key = ?2 WHERE owner = ?1", .text(owner.text),
                .blob(key))
        }
    }

    /// Leaves 31 bytes of it, past what the table checks.
    func cutDeviceSecret(of owner: Owner) throws {
        try database.run("PRAGMA ignore_check_constraints = 1")
        try change {
            try database.run(
                "UPDATE owners SET device_secret = substr(device_secret, 1, 31) WHERE owner = ?1",
                .text(owner.text))
        }
        try database.run("PRAGMA ignore_check_constraints = 0")
    }

    func setCount(_ count: Int, of owner: Owner) throws {
        let record = AttemptsRecord(count: count, boot: clock.now.bootID, deadline: 0)
        try setRecord(record.encoded(), of: owner)
    }

    func dropWait(of owner: Owner) throws {
        guard let bytes = try record(of: owner) else { return }
        var record = try AttemptsRecord(decoding: bytes, at: clock.now)
        record.deadline = 0
        try setRecord(record.encoded(), of: owner)
    }

    func removeLedger(of owner: Owner) throws {
        try change {
            try database.run("DELETE FROM ledgers WHERE owner = ?1", .text(owner.text))
        }
    }

    func forgetNonces() throws { try change { try database.run("DELETE FROM nonces") } }

    func refreshAttempts() throws {
        let now = clock.now
        try change {
            try database.run(
                "UPDATE attempts SET boot = ?1, charged_at = ?2", .text(now.bootID.text),
                .integer(Int64(now.nanoseconds)))
        }
    }

    private func change(_ body: () throws -> Void) throws {
        try database.write { try body() }
        try database.commitBatch()
    }
}
