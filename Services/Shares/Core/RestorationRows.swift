internal import Loop
internal import Serving
internal import SharesMessages
internal import Storage
internal import VaultMessages
internal import Wire

/// The rows of restorations, and of imports that they wait for.
extension SharesStore {
    func restoration(_ address: RestorationAddress) throws(StorageError) -> RestorationRow? {
        try database.firstRow(
            """
            SELECT restoration, public_key, sealed, begun FROM restorations
            WHERE owner = ?1 AND namespace = ?2 AND restoration = ?3
            """, .text(address.owner.text), .text(address.namespace.text),
            .blob(address.restoration.bytes)
        ) { row throws(StorageError) in
            try Self.restoration(row, address.owner, address.namespace)
        }
    }

    /// Those of a namespace, oldest first.
    func restorations(
        owner: Owner, namespace: Namespace
    ) throws(StorageError) -> [RestorationRow] {
        try database.rows(
            """
            SELECT restoration, public_key, sealed, begun FROM restorations
            WHERE owner = ?1 AND namespace = ?2 ORDER BY position
            """, .text(owner.text), .text(namespace.text)
        ) { row throws(StorageError) in try Self.restoration(row, owner, namespace) }
    }

    func add(_ row: RestorationRow) throws(StorageError) {
        try database.run(
            """
            INSERT INTO restorations
            (owner, namespace, restoration, public_key, sealed, begun)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, .text(row.address.owner.text), .text(row.address.namespace.text),
            .blob(row.address.restoration.bytes), .blob(row.publicKey), .blob(row.sealed),
            .integer(Int64(clamping: row.begun)))
    }

    /// Removes a restoration and what it waits for; its sealed key is key material.
    func remove(_ address: RestorationAddress) throws(StorageError) {
        try removeImport(of: address)
        try database.run(
            """
            DELETE FROM restorations
            WHERE owner = ?1 AND namespace = ?2 AND restoration = ?3
            """, .text(address.owner.text), .text(address.namespace.text),
            .blob(address.restoration.bytes))
        database.oweErasure()
    }

    // MARK: Imports

    func add(_ unfinished: UnfinishedImport) throws(StorageError) {
        let address = unfinished.address
        try database.run(
            """
            INSERT INTO imports
            (owner, namespace, restoration, key, ticket, kind, network, identity, words)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """, .text(address.owner.text), .text(address.namespace.text),
            .blob(address.restoration.bytes), .blob(unfinished.key.bytes),
            .blob(unfinished.ticket.stored), .text(unfinished.wallet.kind.text),
            .optional(unfinished.wallet.network?.text), .blob(unfinished.wallet.identity),
            .integer(Int64(unfinished.wallet.words)))
    }

    func removeImport(of address: RestorationAddress) throws(StorageError) {
        try database.run(
            "DELETE FROM imports WHERE owner = ?1 AND namespace = ?2 AND restoration = ?3",
            .text(address.owner.text), .text(address.namespace.text),
            .blob(address.restoration.bytes))
    }

    func unfinishedImport(of address: RestorationAddress) throws(StorageError) -> UnfinishedImport?
    {
        try unfinishedImports(of: address.owner).first { $0.address == address }
    }

    func unfinishedImports(of owner: Owner) throws(StorageError) -> [UnfinishedImport] {
        try database.rows(
            """
            SELECT owner, namespace, restoration, key, ticket, kind, network, identity, words
            FROM imports WHERE owner = ?1
            """, .text(owner.text), map: Self.unfinished)
    }

    func unfinishedImports() throws(StorageError) -> [UnfinishedImport] {
        try database.rows(
            """
            SELECT owner, namespace, restoration, key, ticket, kind, network, identity, words
            FROM imports
            """, map: Self.unfinished)
    }

    // MARK: Reading rows

    private nonisolated static func restoration(
        _ row: borrowing Row, _ owner: Owner, _ namespace: Namespace
    ) throws(StorageError) -> RestorationRow {
        RestorationRow(
            address: RestorationAddress(
                owner: owner, namespace: namespace, restoration: try name(row.blob(0))),
            publicKey: try row.blob(1), sealed: try row.blob(2),
            begun: try number(row.integer(3)))
    }

    private nonisolated static func unfinished(
        _ row: borrowing Row
    ) throws(StorageError) -> UnfinishedImport {
        let address = RestorationAddress(
            owner: try identifier(row.text(0)), namespace: try identifier(row.text(1)),
            restoration: try name(row.blob(2)))
        guard let ticket = ChangeTicket(stored: try row.blob(4), owner: address.owner) else {
            throw .damaged
        }
        return UnfinishedImport(
            address: address, key: try name(row.blob(3)), ticket: ticket,
            wallet: try wallet(row, from: 5))
    }
}
