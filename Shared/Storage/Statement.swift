internal import CSQLite
internal import Secrets

/// One prepared statement, finalised when it goes.
final class Statement {
    private let handle: OpaquePointer

    /// Takes ownership of a prepared statement.
    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    /// Whether the statement leaves the file as it is.
    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    /// Binds the values, runs `body`, and leaves the statement reset and without values.
    func bound(
        to values: [SQLValue], _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        precondition(
            Int(sqlite3_bind_parameter_count(handle)) == values.count,
            "a statement needs one value for each parameter")
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        try bind(values[...], body)
    }

    /// Goes on to the next row; false when there is none.
    func step() throws(StorageError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else { throw StorageError(code: code) }
        return false
    }

    /// Reads the row that the statement stands on.
    func read<T: ~Copyable>(
        _ map: (borrowing Row) throws(StorageError) -> T
    ) throws(StorageError) -> T {
        try map(Row(of: handle))
    }

    /// Binds the first of the values and the rest within it, so that every value's memory is held
    /// in place, without a copy, for as long as SQLite may read it.
    private func bind(
        _ values: ArraySlice<SQLValue>, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let value = values.first else { return try body() }
        let position = Int32(values.startIndex) + 1
        let rest = values.dropFirst()
        switch value {
        case .null:
            try check(sqlite3_bind_null(handle, position))
            try bind(rest, body)
        case .integer(let number):
            try check(sqlite3_bind_int64(handle, position, number))
            try bind(rest, body)
        case .text(let text):
            try bindText(text, position)
            try bind(rest, body)
        case .blob(let bytes):
            try bytes.withUnsafeBufferPointer { (buffer) throws(StorageError) in
                try bindBytes(UnsafeRawBufferPointer(buffer), position)
                try bind(rest, body)
            }
        case .secret(let secret):
            try secret.bytes.withBytes { (buffer) throws(StorageError) in
                try bindBytes(buffer, position)
                try bind(rest, body)
            }
        }
    }

    private func bindText(_ text: String, _ position: Int32) throws(StorageError) {
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let count = text.utf8.count
        try check(
            sqlite3_bind_text64(
                handle, position, text, sqlite3_uint64(count), copied, UInt8(SQLITE_UTF8)))
    }

    private func bindBytes(
        _ bytes: UnsafeRawBufferPointer, _ position: Int32
    ) throws(StorageError) {
        // A null pointer would bind NULL; an empty value is a value.
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return try check(sqlite3_bind_zeroblob(handle, position, 0))
        }
        try check(
            sqlite3_bind_blob64(handle, position, start, sqlite3_uint64(bytes.count), nil))
    }

    private func check(_ code: Int32) throws(StorageError) {
        guard code == SQLITE_OK else { throw StorageError(code: code) }
    }
}
