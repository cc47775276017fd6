internal import Loop
internal import SharesMessages
internal import Storage
internal import Wire

/// The rows of holders.
extension SharesStore {
    func holder(_ name: HolderName, owner: Owner) throws(StorageError) -> HolderDescription? {
        try database.firstRow(
            "SELECT name, public_key, added FROM holders WHERE owner = ?1 AND name = ?2",
            .text(owner.text), .text(name.text), map: Self.holder)
    }

    /// Whether somebody has this key; two keys that differ in the sign alone have the same owner.
    func hasHolder(publicKey: [UInt8], owner: Owner) throws(StorageError) -> Bool {
        try database.firstRow(
            "SELECT 1 FROM holders WHERE owner = ?1 AND unsigned_key = ?2", .text(owner.text),
            .blob(Self.unsigned(publicKey))
        ) { row throws(StorageError) in try row.integer(0) } != nil
    }

    func holders(owner: Owner) throws(StorageError) -> [HolderDescription] {
        try database.rows(
            "SELECT name, public_key, added FROM holders WHERE owner = ?1 ORDER BY name",
            .text(owner.text), map: Self.holder)
    }

    func holderCount(owner: Owner) throws(StorageError) -> Int {
        let count = try database.firstRow(
            "SELECT count(*) FROM holders WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in try row.integer(0) }
        return Int(count ?? 0)
    }

    func add(_ holder: HolderDescription, owner: Owner) throws(StorageError) {
        try database.run(
            """
            INSERT INTO holders (owner, name, public_key, unsigned_key, added)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """, .text(owner.text), .text(holder.name.text), .blob(holder.publicKey),
            .blob(Self.unsigned(holder.publicKey)), .integer(Int64(clamping: holder.added)))
    }

    /// Whether there was one.
    func removeHolder(_ name: HolderName, owner: Owner) throws(StorageError) -> Bool {
        try database.run(
            "DELETE FROM holders WHERE owner = ?1 AND name = ?2", .text(owner.text),
            .text(name.text)) > 0
    }

    private nonisolated static func unsigned(_ publicKey: [UInt8]) -> [UInt8] {
        publicKey.dropLast() + publicKey.suffix(1).map { $0 & 0x7F }
    }

    private nonisolated static func holder(
        _ row: borrowing Row
    ) throws(StorageError) -> HolderDescription {
        HolderDescription(
            name: try identifier(row.text(0)), publicKey: try row.blob(1),
            added: try number(row.integer(2)))
    }
}
