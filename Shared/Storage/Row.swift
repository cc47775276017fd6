internal import CSQLite
public import Secrets

/// One row of an answer, readable only while its statement stands on it.
///
/// Each accessor wants exactly its storage class and throws `.wrongType` for any other: a file that
/// somebody changed gives an error, never a conversion. Columns count from 0; one that the
/// statement does not have is a mistake of the program.
public struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(of statement: OpaquePointer) { self.statement = statement }

    /// Whether the column is NULL.
    public func isNull(_ column: Int32) -> Bool { type(column) == SQLITE_NULL }

    /// The column's INTEGER.
    public func integer(_ column: Int32) throws(StorageError) -> Int64 {
        try want(SQLITE_INTEGER, column)
        return sqlite3_column_int64(statement, column)
    }

    /// The column's TEXT.
    ///
    /// Invalid UTF-8 is `.damaged`.
    public func text(_ column: Int32) throws(StorageError) -> String {
        try want(SQLITE_TEXT, column)
        let bytes = UnsafeRawBufferPointer(
            start: sqlite3_column_text(statement, column), count: try length(column))
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .damaged }
        return text
    }

    /// The column's BLOB.
    public func blob(_ column: Int32) throws(StorageError) -> [UInt8] {
        [UInt8](try bytes(column))
    }

    /// The column's BLOB, copied straight into secret memory.
    public func secret(_ column: Int32) throws(StorageError) -> SecretBytes {
        SecretBytes(copying: try bytes(column))
    }

    /// The column's INTEGER, or nil for NULL.
    public func optionalInteger(_ column: Int32) throws(StorageError) -> Int64? {
        isNull(column) ? nil : try integer(column)
    }

    /// The column's TEXT, or nil for NULL.
    public func optionalText(_ column: Int32) throws(StorageError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    /// The column's BLOB, or nil for NULL.
    public func optionalBlob(_ column: Int32) throws(StorageError) -> [UInt8]? {
        isNull(column) ? nil : try blob(column)
    }

    /// The column's BLOB in secret memory, or nil for NULL.
    public func optionalSecret(_ column: Int32) throws(StorageError) -> SecretBytes? {
        if isNull(column) { return nil }
        return try secret(column)
    }

    /// SQLite's own memory of a BLOB, valid until the next step.
    private func bytes(_ column: Int32) throws(StorageError) -> UnsafeRawBufferPointer {
        try want(SQLITE_BLOB, column)
        let start = sqlite3_column_blob(statement, column)
        let count = try length(column)
        guard start != nil || count == 0 else { throw .failed(code: SQLITE_NOMEM) }
        return UnsafeRawBufferPointer(start: start, count: count)
    }

    private func length(_ column: Int32) throws(StorageError) -> Int {
        Int(sqlite3_column_bytes(statement, column))
    }

    private func want(_ wanted: Int32, _ column: Int32) throws(StorageError) {
        guard type(column) == wanted else { throw .wrongType(column: column) }
    }

    private func type(_ column: Int32) -> Int32 {
        precondition(
            (0..<sqlite3_column_count(statement)).contains(column),
            "no such column in the statement")
        return sqlite3_column_type(statement, column)
    }
}
