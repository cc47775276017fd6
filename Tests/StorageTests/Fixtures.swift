import Glibc
import Secrets
import Storage

/// A table of secrets by number.
let things = Schema(steps: [
    SchemaStep(
        "things", "CREATE TABLE things (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
])

struct Broken: Error, Equatable {}

extension Database {
    func put(_ id: Int64, _ body: [UInt8]) throws(StorageError) {
        try run(
            """
            INSERT INTO things (id, body) VALUES (?, ?)
            ON CONFLICT DO UPDATE SET body = excluded.body
            """,
            .integer(id), .secret(SharedSecret(SecretBytes(copying: body))))
    }

    /// Removes a row; whether there was one.
    func remove(_ id: Int64) throws(StorageError) -> Bool {
        try run("DELETE FROM things WHERE id = ?", .integer(id)) == 1
    }

    func body(_ id: Int64) throws(StorageError) -> [UInt8]? {
        try firstRow("SELECT body FROM things WHERE id = ?", .integer(id)) {
            row throws(StorageError) in try row.blob(0)
        }
    }

    func everything() throws(StorageError) -> [Int64: [UInt8]] {
        let pairs = try rows("SELECT id, body FROM things") { row throws(StorageError) in
            (try row.integer(0), try row.blob(1))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    func putAtOnce(_ id: Int64, _ body: [UInt8]) throws {
        try write { try put(id, body) }
        try commitBatch()
    }
}

func readFile(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
}

func writeFile(_ path: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw Broken() }
    defer { close(descriptor) }
    guard write(descriptor, bytes, bytes.count) == bytes.count, fchmod(descriptor, mode) == 0 else {
        throw Broken()
    }
}

func mode(of path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}

/// SplitMix64: a run of a test is its seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}
