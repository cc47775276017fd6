internal import CSQLite

/// One SQLite file behind one connection, used from one thread: the service loop.
///
/// Work is done in batches. The first `write` opens the batch's transaction, each `write` is a
/// savepoint in it, and `commitBatch` makes all of it durable at once; replies go out only then.
/// After a failed commit nobody knows whether the batch is in the file: every call throws until
/// `reopen`.
///
/// When key material is removed, its bytes stay in the write-ahead log and in unused parts of the
/// file. `oweErasure` makes the commit rebuild the file and cut the log, `erasureOwed` stays true
/// until that succeeded, and the file itself remembers the debt in case the process ends before.
public final class Database {
    private enum State {
        case ready
        case batch
        /// A savepoint could not be undone: the batch can only be given up.
        case poisoned(StorageError)
        /// The connection is unusable until `reopen`.
        case broken(StorageError)
    }

    private let path: String
    private let schema: Schema
    private let vfs: String?
    private var connection: Connection?
    private var state = State.ready
    private var writeDepth = 0
    private var batchOwesErasure = false
    private var earlierErasureOwed = false

    /// Opens or creates the database, settles what an earlier process left in its log, checks the
    /// file, and takes the schema steps that it lacks.
    ///
    /// - Parameters:
    ///   - path: the file; its folder must exist. A new file gets mode 0600, a looser one is
    ///     refused.
    ///   - vfs: the name of a registered SQLite file system, nil for the disk.
    /// - Throws: `.newerSchema` and `.damaged` before anything was changed; `.residue` where the
    ///   log of the earlier process cannot be emptied.
    public init(path: String, schema: Schema, vfs: String? = nil) throws(StorageError) {
        self.path = path
        self.schema = schema
        self.vfs = vfs
        connection = try openConnection(path: path, schema: schema, vfs: vfs)
    }

    /// Does one request's work in the batch.
    ///
    /// If `body` throws, its changes alone are undone and its error is thrown; what others did in
    /// the batch stays.
    ///
    /// - Throws: what `body` throws, or `StorageError`.
    @discardableResult
    public func write<R: ~Copyable>(_ body: () throws -> R) throws -> R {
        let connection = try openBatch()
        try connection.execute("SAVEPOINT request")
        let owedBefore = batchOwesErasure
        writeDepth += 1
        defer { writeDepth -= 1 }
        let result: R
        do {
            result = try body()
        } catch {
            batchOwesErasure = owedBefore
            undoRequest(connection, after: error)
            throw error
        }
        do {
            try connection.execute("RELEASE request")
        } catch {
            poison(error)
            throw error
        }
        return result
    }

    /// The version of the stored state: how many steps of its schema it has.
    public var schemaVersion: Int { schema.version }

    /// Whether there is work that `commitBatch` or `abandonBatch` has to end.
    public var hasOpenBatch: Bool {
        switch state {
        case .batch, .poisoned: true
        case .ready, .broken: false
        }
    }

    /// Says, inside `write`, that key material is removed: the commit then erases it from the
    /// files.
    ///
    /// Undone with the request if that fails.
    public func oweErasure() {
        precondition(writeDepth > 0, "erasure is owed by a change")
        batchOwesErasure = true
    }

    /// Whether removed key material may still be in the files.
    ///
    /// While it is, no reply may say done.
    public var erasureOwed: Bool { batchOwesErasure || earlierErasureOwed }

    /// Makes the batch durable, and erases what it, or an earlier batch, removed.
    ///
    /// - Throws: `.residue` if the batch is durable and the erasure is still owed; anything else
    ///   means that the batch's outcome is unknown and `reopen` has to come next.
    public func commitBatch() throws(StorageError) {
        switch state {
        case .ready: break
        case .batch: try commit()
        case .poisoned(let error), .broken(let error):
            breakConnection(error)
            throw error
        }
        try settleErasure()
    }

    /// Tries an owed erasure again; nothing where none is owed.
    public func settleErasure() throws(StorageError) {
        guard erasureOwed else { return }
        let code = try usable().erase()
        guard code == SQLITE_OK else { throw .residue(code: code) }
        earlierErasureOwed = false
    }

    /// Undoes the whole batch.
    ///
    /// An erasure owed by an earlier one stays owed.
    public func abandonBatch() {
        precondition(writeDepth == 0, "a batch ends after its requests")
        guard hasOpenBatch else { return }
        batchOwesErasure = false
        guard let connection else { return }
        do {
            if connection.inTransaction { try connection.execute("ROLLBACK") }
            state = .ready
        } catch {
            state = .broken(error)
        }
    }

    /// Closes the connection and opens the file again, as `init` does; an open batch is lost.
    ///
    /// An owed erasure is settled by it.
    public func reopen() throws(StorageError) {
        precondition(writeDepth == 0, "a batch ends after its requests")
        earlierErasureOwed = erasureOwed
        batchOwesErasure = false
        connection = nil
        do {
            connection = try openConnection(path: path, schema: schema, vfs: vfs)
        } catch {
            state = .broken(error)
            throw error
        }
        earlierErasureOwed = false
        state = .ready
    }

    /// Runs a statement to its end and answers how many rows it inserted, changed or deleted.
    ///
    /// A statement that changes the file runs only inside `write`.
    @discardableResult
    public func run(_ sql: StaticString, _ values: SQLValue...) throws(StorageError) -> Int {
        let connection = try usable()
        return try connection.withStatement(sql) { (statement) throws(StorageError) in
            mustBeAllowed(statement)
            return try connection.run(statement, values)
        }
    }

    /// All rows of an answer, each mapped while the statement stands on it.
    public func rows<T>(
        _ sql: StaticString, _ values: SQLValue...,
        map: (borrowing Row) throws(StorageError) -> T
    ) throws(StorageError) -> [T] {
        try usable().withStatement(sql) { (statement) throws(StorageError) in
            mustBeAllowed(statement)
            var found: [T] = []
            try statement.bound(to: values) { () throws(StorageError) in
                while try statement.step() { found.append(try statement.read(map)) }
            }
            return found
        }
    }

    /// The first row of an answer, or nil where there is none.
    public func firstRow<T: ~Copyable>(
        _ sql: StaticString, _ values: SQLValue...,
        map: (borrowing Row) throws(StorageError) -> T
    ) throws(StorageError) -> T? {
        try usable().withStatement(sql) { (statement) throws(StorageError) in
            mustBeAllowed(statement)
            var found: T?
            try statement.bound(to: values) { () throws(StorageError) in
                if try statement.step() { found = try statement.read(map) }
            }
            return found
        }
    }

    /// Closes the file.
    ///
    /// An open batch is lost; every later call throws until `reopen`.
    public func close() {
        precondition(writeDepth == 0, "a batch ends after its requests")
        breakConnection(.failed(code: SQLITE_MISUSE))
        connection = nil
    }

    /// The connection, if it can be relied on.
    ///
    /// Where SQLite ended the transaction by itself, a further statement would be durable at once
    /// and alone: the batch is poisoned instead.
    private func usable() throws(StorageError) -> Connection {
        switch state {
        case .poisoned(let error), .broken(let error): throw error
        case .ready, .batch: break
        }
        guard let connection else { throw .failed(code: SQLITE_MISUSE) }
        if case .batch = state, !connection.inTransaction {
            let lost = StorageError.failed(code: SQLITE_ABORT)
            poison(lost)
            throw lost
        }
        return connection
    }

    private func openBatch() throws(StorageError) -> Connection {
        let connection = try usable()
        if case .batch = state { return connection }
        try connection.execute("BEGIN IMMEDIATE")
        state = .batch
        return connection
    }

    private func undoRequest(_ connection: Connection, after cause: any Error) {
        do throws(StorageError) {
            try connection.execute("ROLLBACK TO request")
            try connection.execute("RELEASE request")
        } catch {
            poison(cause as? StorageError ?? error)
        }
    }

    private func commit() throws(StorageError) {
        precondition(writeDepth == 0, "a batch ends after its requests")
        let connection = try usable()
        precondition(connection.statementsInUse == 0, "a batch ends with no statement open")
        do {
            if batchOwesErasure { try connection.markErasureOwed() }
            try connection.execute("COMMIT")
        } catch {
            breakConnection(error)
            throw error
        }
        state = .ready
        earlierErasureOwed = erasureOwed
        batchOwesErasure = false
    }

    private func poison(_ error: StorageError) {
        if case .batch = state { state = .poisoned(error) }
    }

    /// What the batch owed stays owed: whether it is in the file is not known.
    private func breakConnection(_ error: StorageError) {
        state = .broken(error)
        earlierErasureOwed = erasureOwed
        batchOwesErasure = false
    }

    private func mustBeAllowed(_ statement: Statement) {
        precondition(statement.isReadOnly || writeDepth > 0, "changes are made inside write")
    }
}
