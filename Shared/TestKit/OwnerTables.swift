public import Serving
public import Storage

/// The tables of a store that hold rows of owners and are forgotten where an owner is looked for,
/// wiped or moved aside: those with a column `owner` that no three statements name, but for the
/// journal of outcomes.
public func tablesLeft(
    by known: [OwnerTable], in database: Database
) throws(StorageError) -> [String] {
    let statements = Set(known.map { ["\($0.find)", "\($0.delete)", "\($0.keep)"] })
    let tables = try database.rows(
        """
        SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
        WHERE m.type = 'table' AND c.name = 'owner' AND m.name <> 'outcomes' ORDER BY m.name
        """
    ) { row throws(StorageError) in try row.text(0) }
    return tables.filter { table in
        !statements.contains([
            "SELECT 1 FROM \(table) WHERE owner = ?1 LIMIT 1",
            "DELETE FROM \(table) WHERE owner = ?1", "DELETE FROM \(table) WHERE owner <> ?1",
        ])
    }
}
