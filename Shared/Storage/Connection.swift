internal import CSQLite

/// The open file: settings, prepared statements, and the write-ahead log.
final class Connection {
    /// Opens, or creates, the file and makes every setting that the store relies on.
    init(path: String, vfs: String?) throws(StorageError) {
        _ = StorageMemory.wipesOnRelease
        var opened: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, vfs)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw .cannotOpen(code: code)
        }
        handle = opened
        try configure()
    }

    deinit {
        idle.removeAll()
        sqlite3_close(handle)
    }

    /// Whether a transaction is open.
    ///
    /// SQLite ends one by itself on some failures.
    var inTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// How many statements are being run now.
    private(set) var statementsInUse = 0

    private let handle: OpaquePointer

    /// Prepared statements at rest, by the address of their text.
    private var idle: [UInt: Statement] = [:]

    /// A statement and its values run to their end; the number of rows inserted, changed or
    /// deleted.
    func run(_ statement: Statement, _ values: [SQLValue]) throws(StorageError) -> Int {
        let before = sqlite3_total_changes64(handle)
        try statement.bound(to: values) { () throws(StorageError) in
            while try statement.step() {}
        }
        return sqlite3_total_changes64(handle) == before ? 0 : Int(sqlite3_changes64(handle))
    }

    /// A statement without values, run to its end.
    func execute(_ sql: StaticString) throws(StorageError) {
        try withStatement(sql) { (statement) throws(StorageError) in
            _ = try run(statement, [])
        }
    }

    /// Lends the prepared statement of this text.
    ///
    /// It is out of the cache meanwhile, so that the same text used within `body` gets a statement
    /// of its own.
    func withStatement<R: ~Copyable>(
        _ sql: StaticString, _ body: (Statement) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        let key = UInt(bitPattern: sql.utf8Start)
        let resting = idle.removeValue(forKey: key)
        let statement = if let resting { resting } else { try prepare(sql) }
        statementsInUse += 1
        defer {
            statementsInUse -= 1
            idle[key] = statement
        }
        return try body(statement)
    }

    /// The first row's first column, a number.
    func integer(_ sql: StaticString) throws(StorageError) -> Int64 {
        try first(sql) { (row) throws(StorageError) in try row.integer(0) }
    }

    /// The first row's first column, a text.
    func text(_ sql: StaticString) throws(StorageError) -> String {
        try first(sql) { (row) throws(StorageError) in try row.text(0) }
    }

    /// Writes how many schema steps the file has taken.
    ///
    /// A pragma takes no parameter.
    func setUserVersion(_ version: Int32) throws(StorageError) {
        let code = sqlite3_exec(handle, "PRAGMA user_version = \(version)", nil, nil, nil)
        guard code == SQLITE_OK else { throw StorageError(code: code) }
    }

    /// Keeps changes in a write-ahead log from now on.
    func useLog() throws(StorageError) {
        guard try text("PRAGMA journal_mode = WAL") == "wal" else {
            throw .cannotOpen(code: SQLITE_CANTOPEN)
        }
        sqlite3_wal_autocheckpoint(handle, Limits.logPages)
    }

    /// Whether closing moves the log into the file.
    ///
    /// Off until the file is known to be ours to change.
    func setCheckpointOnClose(_ on: Bool) throws(StorageError) {
        try set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !on)
    }

    /// Remembers, in the file and within the open transaction, that an erasure is owed.
    func markErasureOwed() throws(StorageError) {
        try execute("PRAGMA application_id = 1")
    }

    /// Whether the file remembers an owed erasure.
    func isErasureMarked() throws(StorageError) -> Bool {
        try integer("PRAGMA application_id") != 0
    }

    /// Leaves nothing of removed rows in the file or in the log.
    ///
    /// `secure_delete` wipes a row where it stands, but SQLite moves rows between pages and leaves
    /// the old copies in the unused parts of those (seen in 3.40.1). So the file is rebuilt.
    /// Returns SQLite's extended code, `SQLITE_OK` if nothing is left.
    func erase() -> Int32 {
        do {
            try execute("VACUUM")
            try execute("PRAGMA application_id = 0")
        } catch {
            return error.code
        }
        return truncateLog()
    }

    /// Moves the whole log into the file and cuts the log to nothing, durably.
    ///
    /// SQLite answers OK only if every frame was moved and the file synced; it does not sync the
    /// truncation, without which the old bytes can be back after a power cut. Returns SQLite's
    /// extended code, `SQLITE_OK` if there is nothing left in the log.
    func truncateLog() -> Int32 {
        var framesInLog: Int32 = -1
        var framesMoved: Int32 = -1
        let code = sqlite3_wal_checkpoint_v2(
            handle, "main", SQLITE_CHECKPOINT_TRUNCATE, &framesInLog, &framesMoved)
        guard code == SQLITE_OK else { return code }
        guard framesInLog == 0, framesMoved == 0 else { return SQLITE_BUSY }
        return syncEmptyLog()
    }

    private func syncEmptyLog() -> Int32 {
        var log: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        guard code == SQLITE_OK else { return code }
        // No methods: the log was never opened, so there is none.
        guard let log, let methods = log.pointee.pMethods else { return SQLITE_OK }
        guard let sizeOf = methods.pointee.xFileSize, let sync = methods.pointee.xSync else {
            return SQLITE_IOERR
        }
        var size: sqlite3_int64 = -1
        let sizeCode = sizeOf(log, &size)
        guard sizeCode == SQLITE_OK else { return sizeCode }
        guard size == 0 else { return SQLITE_BUSY }
        return sync(log, SQLITE_SYNC_NORMAL)
    }

    private func first<T>(
        _ sql: StaticString, _ map: (borrowing Row) throws(StorageError) -> T
    ) throws(StorageError) -> T {
        try withStatement(sql) { (statement) throws(StorageError) in
            var value: T?
            try statement.bound(to: []) { () throws(StorageError) in
                guard try statement.step() else { return }
                value = try statement.read(map)
            }
            guard let value else { throw .failed(code: SQLITE_ERROR) }
            return value
        }
    }

    private func prepare(_ sql: StaticString) throws(StorageError) -> Statement {
        var prepared: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let (code, isWhole) = sql.withUTF8Buffer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                let code = sqlite3_prepare_v3(
                    handle, text.baseAddress, Int32(text.count),
                    UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &tail)
                return (code, tail == text.baseAddress.map { $0 + text.count })
            }
        }
        guard code == SQLITE_OK else { throw StorageError(code: code) }
        guard let prepared, isWhole else { preconditionFailure("SQL text must be one statement") }
        return Statement(owning: prepared)
    }

    /// The order matters: with exclusive locking before the first access the index of the log is in
    /// this process's memory and no `-shm` file is made.
    private func configure() throws(StorageError) {
        try setCheckpointOnClose(false)
        try set(SQLITE_DBCONFIG_DEFENSIVE, true)
        try set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
        try set(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false)
        try set(SQLITE_DBCONFIG_DQS_DML, false)
        try set(SQLITE_DBCONFIG_DQS_DDL, false)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Limits.valueBytes)
        // VACUUM attaches the copy that it makes, in memory.
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
        try execute("PRAGMA locking_mode = EXCLUSIVE")
        try execute("PRAGMA synchronous = FULL")
        try execute("PRAGMA secure_delete = ON")
        try execute("PRAGMA cell_size_check = ON")
        try execute("PRAGMA foreign_keys = ON")
        try execute("PRAGMA mmap_size = 0")
        // No temporary file, and no uncommitted page in the log: nothing that was rolled back was
        // ever on disk.
        try execute("PRAGMA temp_store = MEMORY")
        try execute("PRAGMA cache_spill = OFF")
    }

    private func set(_ option: Int32, _ on: Bool) throws(StorageError) {
        let code = coffer_sqlite3_set(handle, option, on ? 1 : 0)
        guard code == SQLITE_OK else { throw StorageError(code: code) }
    }

    /// Bounds on what a store may hold at once.
    private enum Limits {
        /// The longest value or row, in bytes.
        static let valueBytes: Int32 = 16 << 20
        /// The log's length, in pages, from which a commit moves it into the file.
        static let logPages: Int32 = 1000
    }
}
