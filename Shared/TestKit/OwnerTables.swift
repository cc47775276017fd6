public import Serving
public import Storage

/// The tables of a store that hold rows of owners and are forgotten where an owner is wiped: those
/// with a column `owner` that no statement names, but for the journal of outcomes.
public func tablesLeft(
    by wiped: [OwnerTable], in database: Database
) throws(StorageError) -> [String] {
    let statements = Set(wiped.map { "\($0.delete)" })
    let tables = try database.rows(
        """
        SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
        WHERE m.type = 'table' AND c.name = 'owner' AND m.name <> 'outcomes' ORDER BY m.name
        """
    ) { row throws(StorageError) in try row.text(0) }
    return tables.filter { !statements.contains("DELETE FROM \($0) WHERE owner = ?1") }
}
