internal import Loop
internal import SharesMessages
internal import Storage
internal import VaultMessages
internal import Wire

/// The rows of splits, each with those of its three shares.
extension SharesStore {
    func split(
        _ split: SplitID, owner: Owner, namespace: Namespace
    ) throws(StorageError) -> SplitRow? {
        let found = try database.firstRow(
            """
            SELECT split, kind, network, identity, words, made, mac FROM splits
            WHERE owner = ?1 AND namespace = ?2 AND split = ?3
            """, .text(owner.text), .text(namespace.text), .blob(split.bytes)
        ) { row throws(StorageError) in try Self.split(row, owner, namespace) }
        guard let found else { return nil }
        return try withShares(found)
    }

    /// Some splits of a namespace, oldest first, from the one after `split` on.
    ///
    /// - Returns: nil where there is no split to begin after.
    func splits(
        after split: SplitID?, owner: Owner, namespace: Namespace, limit: Int
    ) throws(StorageError) -> [SplitRow]? {
        var position: Int64 = 0
        if let split {
            guard let found = try self.position(of: split, owner, namespace) else { return nil }
            position = found
        }
        let found = try database.rows(
            """
            SELECT split, kind, network, identity, words, made, mac FROM splits
            WHERE owner = ?1 AND namespace = ?2 AND position > ?3 ORDER BY position LIMIT ?4
            """, .text(owner.text), .text(namespace.text), .integer(position),
            .integer(Int64(limit))
        ) { row throws(StorageError) in try Self.split(row, owner, namespace) }
        var rows: [SplitRow] = []
        for row in found { rows.append(try withShares(row)) }
        return rows
    }

    /// Whether one more split fits into a namespace, if need be in the place of another.
    func hasRoom(owner: Owner, namespace: Namespace, limit: Int) throws(StorageError) -> Bool {
        if try splitCount(owner, namespace, upTo: limit) < limit { return true }
        return try dispensable(owner, namespace) != nil
    }

    /// Forgets the splits that are too many; part of a step that the caller makes.
    ///
    /// The oldest one that nobody confirmed goes first, and then the oldest one of a wallet of
    /// which a later split is confirmed. The last confirmed split of a wallet never goes.
    func makeRoom(owner: Owner, namespace: Namespace, limit: Int) throws(StorageError) {
        while try splitCount(owner, namespace, upTo: limit) >= limit {
            guard let split = try dispensable(owner, namespace) else { return }
            try forget(split, owner, namespace)
        }
    }

    /// Adds a split that is not confirmed; part of a step that the caller makes.
    func add(_ row: SplitRow) throws(StorageError) {
        let manifest = row.manifest
        try database.run(
            """
            INSERT INTO splits
            (owner, namespace, split, kind, network, identity, words, made, mac)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL)
            """, .text(row.owner.text), .text(row.namespace.text), .blob(manifest.split.bytes),
            .text(manifest.wallet.kind.text), .optional(manifest.wallet.network?.text),
            .blob(manifest.wallet.identity), .integer(Int64(manifest.wallet.words)),
            .integer(Int64(clamping: manifest.made)))
        for (place, share) in manifest.shares.enumerated() {
            try database.run(
                """
                INSERT INTO shares
                (owner, namespace, split, place, holder, public_key, digest, file)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                """, .text(row.owner.text), .text(row.namespace.text),
                .blob(manifest.split.bytes), .integer(Int64(place)), .text(share.holder.text),
                .blob(share.publicKey), .blob(share.digest), .blob(share.file))
        }
    }

    /// Confirms a split, and forgets what it supersedes: earlier splits of the same wallet that
    /// nobody confirmed; part of a step that the caller makes.
    func confirm(_ row: SplitRow, mac: [UInt8]) throws(StorageError) {
        let manifest = row.manifest
        try database.run(
            "UPDATE splits SET mac = ?4 WHERE owner = ?1 AND namespace = ?2 AND split = ?3",
            .text(row.owner.text), .text(row.namespace.text), .blob(manifest.split.bytes),
            .blob(mac))
        guard let position = try position(of: manifest.split, row.owner, row.namespace) else {
            return
        }
        let superseded: [SplitID] = try database.rows(
            """
            SELECT split FROM splits
            WHERE owner = ?1 AND namespace = ?2 AND identity = ?3 AND kind = ?4
            AND network IS ?5 AND position < ?6 AND mac IS NULL
            """, .text(row.owner.text), .text(row.namespace.text),
            .blob(manifest.wallet.identity), .text(manifest.wallet.kind.text),
            .optional(manifest.wallet.network?.text), .integer(position)
        ) { row throws(StorageError) in try Self.name(row.blob(0)) }
        for split in superseded { try forget(split, row.owner, row.namespace) }
    }

    // MARK: Parts

    private func position(
        of split: SplitID, _ owner: Owner, _ namespace: Namespace
    ) throws(StorageError) -> Int64? {
        try database.firstRow(
            "SELECT position FROM splits WHERE owner = ?1 AND namespace = ?2 AND split = ?3",
            .text(owner.text), .text(namespace.text), .blob(split.bytes)
        ) { row throws(StorageError) in try row.integer(0) }
    }

    private func splitCount(
        _ owner: Owner, _ namespace: Namespace, upTo limit: Int
    ) throws(StorageError) -> Int {
        let count = try database.firstRow(
            """
            SELECT count(*) FROM
            (SELECT 1 FROM splits WHERE owner = ?1 AND namespace = ?2 LIMIT ?3)
            """, .text(owner.text), .text(namespace.text), .integer(Int64(limit))
        ) { row throws(StorageError) in try row.integer(0) }
        return Int(count ?? 0)
    }

    /// The split that gives way first; nil where each is the last confirmed one of its wallet.
    private func dispensable(
        _ owner: Owner, _ namespace: Namespace
    ) throws(StorageError) -> SplitID? {
        let unconfirmed: SplitID? = try database.firstRow(
            """
            SELECT split FROM splits WHERE owner = ?1 AND namespace = ?2 AND mac IS NULL
            ORDER BY position LIMIT 1
            """, .text(owner.text), .text(namespace.text)
        ) { row throws(StorageError) in try Self.name(row.blob(0)) }
        if let unconfirmed { return unconfirmed }
        return try database.firstRow(
            """
            SELECT split FROM splits AS earlier
            WHERE owner = ?1 AND namespace = ?2 AND EXISTS (
                SELECT 1 FROM splits AS later
                WHERE later.owner = ?1 AND later.namespace = ?2
                AND later.identity = earlier.identity AND later.kind = earlier.kind
                AND later.network IS earlier.network AND later.position > earlier.position
                AND later.mac IS NOT NULL
            ) ORDER BY position LIMIT 1
            """, .text(owner.text), .text(namespace.text)
        ) { row throws(StorageError) in try Self.name(row.blob(0)) }
    }

    private func forget(
        _ split: SplitID, _ owner: Owner, _ namespace: Namespace
    ) throws(StorageError) {
        try database.run(
            "DELETE FROM shares WHERE owner = ?1 AND namespace = ?2 AND split = ?3",
            .text(owner.text), .text(namespace.text), .blob(split.bytes))
        try database.run(
            "DELETE FROM splits WHERE owner = ?1 AND namespace = ?2 AND split = ?3",
            .text(owner.text), .text(namespace.text), .blob(split.bytes))
    }

    private func withShares(_ row: SplitRow) throws(StorageError) -> SplitRow {
        var row = row
        row.manifest.shares = try database.rows(
            """
            SELECT holder, public_key, digest, file FROM shares
            WHERE owner = ?1 AND namespace = ?2 AND split = ?3 ORDER BY place
            """, .text(row.owner.text), .text(row.namespace.text),
            .blob(row.manifest.split.bytes)
        ) { row throws(StorageError) in
            Manifest.Share(
                holder: try Self.identifier(row.text(0)), publicKey: try row.blob(1),
                digest: try row.blob(2), file: try row.blob(3))
        }
        guard row.manifest.shares.count == SplitWallet.shareCount else { throw .damaged }
        return row
    }

    private nonisolated static func split(
        _ row: borrowing Row, _ owner: Owner, _ namespace: Namespace
    ) throws(StorageError) -> SplitRow {
        SplitRow(
            owner: owner, namespace: namespace,
            manifest: Manifest(
                split: try name(row.blob(0)), wallet: try wallet(row, from: 1),
                made: try number(row.integer(5)), confirmed: false, shares: []),
            mac: try row.optionalBlob(6))
    }
}
