internal import CSQLite
internal import StateFolders

/// A connection that may be served from: private files, a known schema, an empty log, a sound file.
func openConnection(
    path: String, schema: Schema, vfs: String?
) throws(StorageError) -> Connection {
    if vfs == nil { try preparePrivateFiles(path) }
    let connection = try Connection(path: path, vfs: vfs)
    if vfs == nil { try checkPrivateFiles(path) }

    let found = Int(try connection.integer("PRAGMA user_version"))
    guard found <= schema.version, found >= 0 else {
        throw .newerSchema(found: found, known: schema.version)
    }
    try connection.useLog()
    guard try connection.text("PRAGMA quick_check(1)") == "ok" else { throw .damaged }

    // Key material that an earlier process removed may still be in the log and, if it says so, in
    // the file.
    try connection.setCheckpointOnClose(true)
    let isErasureOwed = try connection.isErasureMarked()
    let code = isErasureOwed ? connection.erase() : connection.truncateLog()
    guard code == SQLITE_OK else {
        // A full disk is mended in the same way, whatever the log holds.
        let isFull = code & 0xFF == SQLITE_FULL
        throw isFull ? .full : .residue(code: code)
    }
    try takeSteps(of: schema, after: found, on: connection)
    return connection
}

private func takeSteps(
    of schema: Schema, after found: Int, on connection: Connection
) throws(StorageError) {
    guard found < schema.version else { return }
    try connection.execute("BEGIN IMMEDIATE")
    for step in schema.steps[found...] {
        for statement in step.statements { try connection.execute(statement) }
    }
    try connection.setUserVersion(Int32(schema.version))
    try connection.execute("COMMIT")
}

/// The files that SQLite keeps for a database on disk.
private func filesOf(_ path: String) -> [String] { [path, path + "-wal", path + "-journal"] }

/// Creates a missing file with mode 0600, which SQLite then gives to the log as well, and refuses
/// files that others could have read or written.
private func preparePrivateFiles(_ path: String) throws(StorageError) {
    try checkPrivateFiles(path)
    let isLogAlone: Bool
    do throws(StateFolderError) {
        let size = try PrivateFile.size(of: path)
        let logSize = try PrivateFile.size(of: path + "-wal")
        // SQLite deletes the log of an empty file, and with it whatever was committed to it.
        isLogAlone = (size ?? 0) == 0 && (logSize ?? 0) > 0
        if size == nil, !isLogAlone { try PrivateFile.create(path) }
    } catch {
        throw .refused(error)
    }
    if isLogAlone { throw .damaged }
}

private func checkPrivateFiles(_ path: String) throws(StorageError) {
    do throws(StateFolderError) {
        for file in filesOf(path) { try PrivateFile.checkIfPresent(file) }
    } catch {
        throw .refused(error)
    }
}
