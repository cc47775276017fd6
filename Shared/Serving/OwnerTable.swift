public import Storage
public import Wire

/// A table that has rows of owners: how those of one are found, destroyed, and left alone.
public struct OwnerTable: Sendable {
    /// Answers a row where the owner `?1` has any.
    public let find: StaticString
    /// Deletes the rows of the owner `?1`.
    public let delete: StaticString
    /// Deletes the rows of every other owner.
    public let keep: StaticString

    public init(find: StaticString, delete: StaticString, keep: StaticString) {
        self.find = find
        self.delete = delete
        self.keep = keep
    }
}

extension Database {
    /// Whether any of the tables has a row of the owner.
    public func hasRows(of owner: Owner, in tables: [OwnerTable]) throws(StorageError) -> Bool {
        for table in tables {
            let found = try firstRow(table.find, .text(owner.text)) {
                row throws(StorageError) in try row.integer(0)
            }
            if found != nil { return true }
        }
        return false
    }
}
