internal import CSQLite
public import StateFolders

/// Why the store did not do its work.
public enum StorageError: Error, Equatable, Sendable {
    /// The file could not be opened. Nothing was changed. SQLite's extended code.
    case cannotOpen(code: Int32)
    /// SQLite refused or the disk failed, by SQLite's extended code. If `commitBatch` threw it, the
    /// outcome of the batch is unknown until `reopen`.
    case failed(code: Int32)
    /// There is no room left on the disk.
    case full
    /// The file is no database, contradicts itself, or holds a value that cannot be read.
    case damaged
    /// The state was written by a newer release; nothing was changed.
    case newerSchema(found: Int, known: Int)
    /// The change is durable, but removed key material may still be in the files.
    case residue(code: Int32)
    /// A column has another type than the one asked for.
    case wrongType(column: Int32)
    /// A file of the database is not private.
    case refused(StateFolderError)

    /// The error of a result code of SQLite that is neither OK, ROW nor DONE.
    init(code: Int32) {
        switch code & 0xFF {
        case SQLITE_FULL: self = .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged
        default: self = .failed(code: code)
        }
    }

    /// SQLite's code behind the error, as far as it has one.
    var code: Int32 {
        switch self {
        case .cannotOpen(let code), .failed(let code), .residue(let code): code
        case .full: SQLITE_FULL
        case .damaged: SQLITE_CORRUPT
        case .wrongType: SQLITE_MISMATCH
        case .newerSchema, .refused: SQLITE_CANTOPEN
        }
    }

    /// What happened and what to do about it, for people.
    public var sentence: String {
        switch self {
        case .cannotOpen(let code):
            "The database could not be opened (SQLite code \(code))."
        case .failed(let code):
            "The database could not do its work (SQLite code \(code))."
        case .full:
            "The disk of the database is full: make room and try again."
        case .damaged:
            "The database is damaged: put a backup of the state folder back."
        case .newerSchema(let found, let known):
            "The state was written by a newer release (its version is \(found), this program knows"
                + " \(known)): install that release or a later one."
        case .residue(let code):
            "The change was made, but traces of removed key material could not be erased yet"
                + " (SQLite code \(code))."
        case .wrongType(let column):
            "The database holds a value of an unexpected type (column \(column))."
        case .refused(let error):
            error.sentence
        }
    }
}
