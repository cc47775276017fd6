internal import Clocks
internal import Crypto
public import Loop
public import Storage
internal import Wire

/// What became of every change, kept in the store that the change was made in.
///
/// A row is written in the same savepoint as the change, so a change and its outcome are both there
/// or both not.
@ServiceLoop
public final class OutcomeJournal {
    /// What the journal has under a key.
    struct Entry {
        var status: OutcomeStatus
        /// Digest of method and body; nil for a key that was written off before it was seen.
        var digest: [UInt8]?
        var code: String?
        /// The reply's body, or the refusal's.
        var body: [UInt8]

        static func rejected(with refusal: Refusal, digest: [UInt8]?) -> Entry {
            Entry(
                status: .rejected, digest: digest, code: refusal.code, body: refusal.encoded())
        }
    }

    private let store: Database
    private let clock: any BootClock
    private let limits: Limits

    init(store: Database, clock: any BootClock, limits: Limits) {
        self.store = store
        self.clock = clock
        self.limits = limits
    }

    /// The journal's table; a step of every service's schema.
    public nonisolated static let schemaStep = SchemaStep(
        "outcomes",
        """
        CREATE TABLE outcomes (
            peer BLOB NOT NULL,
            owner TEXT NOT NULL,
            key BLOB NOT NULL,
            digest BLOB,
            status TEXT NOT NULL,
            code TEXT,
            body BLOB NOT NULL,
            settled INTEGER NOT NULL,
            expires INTEGER NOT NULL,
            PRIMARY KEY (peer, owner, key)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX outcomes_by_expiry ON outcomes (expires)",
        "CREATE TABLE outcome_boot (id TEXT NOT NULL)")

    /// For a service that makes thousands of changes a minute for one peer: whether the peer has
    /// outcomes waiting is then found without a look at those that it knows.
    public nonisolated static let settlingStep = SchemaStep(
        "outcomes by settling",
        "CREATE INDEX outcomes_by_settling ON outcomes (peer, settled)")

    /// The journal's rows of an owner.
    public nonisolated static let ownerTable = OwnerTable(
        find: "SELECT 1 FROM outcomes WHERE owner = ?1 LIMIT 1",
        delete: "DELETE FROM outcomes WHERE owner = ?1",
        keep: "DELETE FROM outcomes WHERE owner <> ?1")

    /// Digest that tells a repeat from another request under the same key.
    nonisolated static func digest(method: String, body: [UInt8]) -> [UInt8] {
        SHA256.digest(Array(method.utf8) + [0] + body)
    }

    func entry(for name: ChangeTicket.Name) throws(StorageError) -> Entry? {
        try store.firstRow(
            """
            SELECT status, digest, code, body FROM outcomes
            WHERE peer = ?1 AND owner = ?2 AND key = ?3
            """, .blob(name.peer.bytes), .text(name.owner.text), .blob(name.key.bytes)
        ) { row throws(StorageError) in
            guard let status = OutcomeStatus(rawValue: try row.text(0)) else { throw .damaged }
            return Entry(
                status: status, digest: try row.optionalBlob(1), code: try row.optionalText(2),
                body: try row.blob(3))
        }
    }

    /// Writes what became of a change, over what stood there.
    func record(_ entry: Entry, for name: ChangeTicket.Name) throws(StorageError) {
        let expires = clock.now.nanoseconds + limits.outcomeSeconds * 1_000_000_000
        _ = try store.run(
            """
            INSERT OR REPLACE INTO outcomes
            (peer, owner, key, digest, status, code, body, settled, expires)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8)
            """, .blob(name.peer.bytes), .text(name.owner.text), .blob(name.key.bytes),
            .optional(entry.digest), .text(entry.status.rawValue), .optional(entry.code),
            .blob(entry.body),
            .integer(Int64(clamping: expires)))
        try sweep()
    }

    /// Notes that the peer knows the outcome of these; they go a minute later.
    func settle(_ keys: [IdempotencyKey], peer: PeerKey, owner: Owner) throws(StorageError) {
        let expires = clock.now.nanoseconds + limits.settledSeconds * 1_000_000_000
        for key in keys {
            _ = try store.run(
                """
                UPDATE outcomes SET settled = 1, expires = ?4
                WHERE peer = ?1 AND owner = ?2 AND key = ?3 AND settled = 0
                """, .blob(peer.bytes), .text(owner.text), .blob(key.bytes),
                .integer(Int64(clamping: expires)))
        }
    }

    /// Whether the peer has as many outcomes waiting for it as it may.
    func isFull(for peer: PeerKey) throws(StorageError) -> Bool {
        let count = try store.firstRow(
            """
            SELECT count(*) FROM
            (SELECT 1 FROM outcomes WHERE peer = ?1 AND settled = 0 LIMIT ?2)
            """, .blob(peer.bytes), .integer(Int64(limits.unsettledPerPeer))
        ) { row throws(StorageError) in try row.integer(0) }
        return Int(count ?? 0) >= limits.unsettledPerPeer
    }

    /// Forgets a change that was begun and did not happen, so that it may be asked for again.
    func forgetBegun(_ name: ChangeTicket.Name) throws(StorageError) {
        _ = try store.run(
            "DELETE FROM outcomes WHERE peer = ?1 AND owner = ?2 AND key = ?3 AND status = ?4",
            .blob(name.peer.bytes), .text(name.owner.text), .blob(name.key.bytes),
            .text(OutcomeStatus.inFlight.rawValue))
    }

    /// At the start: deadlines of an earlier boot begin anew, and what was in flight counts as
    /// undone.
    ///
    /// - Parameter unfinished: the changes that the service will finish or undo when it can; they
    ///   stay in flight.
    public func recover(unfinished: [ChangeTicket]) throws(StorageError) {
        let now = clock.now
        let boot = try store.firstRow("SELECT id FROM outcome_boot") {
            row throws(StorageError) in try row.text(0)
        }
        if boot != now.bootID.text {
            _ = try store.run("DELETE FROM outcome_boot")
            _ = try store.run("INSERT INTO outcome_boot (id) VALUES (?1)", .text(now.bootID.text))
            let kept = now.nanoseconds + limits.outcomeSeconds * 1_000_000_000
            let gone = now.nanoseconds + limits.settledSeconds * 1_000_000_000
            _ = try store.run(
                "UPDATE outcomes SET expires = CASE settled WHEN 0 THEN ?1 ELSE ?2 END",
                .integer(Int64(clamping: kept)), .integer(Int64(clamping: gone)))
        }
        let refusal = BusFault.interrupted.refusal
        _ = try store.run(
            "UPDATE outcomes SET status = ?1, code = ?2, body = ?3 WHERE status = ?4",
            .text(OutcomeStatus.rejected.rawValue), .text(refusal.code), .blob(refusal.encoded()),
            .text(OutcomeStatus.inFlight.rawValue))
        for ticket in unfinished {
            try record(
                .init(status: .inFlight, digest: ticket.digest, code: nil, body: []),
                for: ticket.name)
        }
    }

    private func sweep() throws(StorageError) {
        _ = try store.run(
            "DELETE FROM outcomes WHERE expires < ?1 AND status <> ?2",
            .integer(Int64(clamping: clock.now.nanoseconds)),
            .text(OutcomeStatus.inFlight.rawValue))
    }
}
