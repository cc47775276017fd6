import CSQLite
import DiskDouble
import Glibc
import StateFolders
import Storage
import TestKit
import Testing

@Suite struct OpeningRules {
    let disk = TestDisk()
    private static let second = SchemaStep("names", "ALTER TABLE things ADD COLUMN name TEXT")

    @Test func aNewerSchemaIsRefusedAndLeftAsItIs() throws {
        let newer = Schema(steps: things.released + [Self.second])
        try Database(path: "db", schema: newer, vfs: disk.name).putAtOnce(1, [1])
        let before = disk.bytes(of: "db")
        let error = StorageError.newerSchema(found: 2, known: 1)
        #expect(throws: error) { try Database(path: "db", schema: things, vfs: disk.name) }
        #expect(disk.bytes(of: "db") == before && disk.bytes(of: "db-wal").isEmpty)
        #expect(error.sentence.contains("newer release"))
    }

    @Test func missingStepsAreTakenAndRowsKept() throws {
        try Database(path: "db", schema: things, vfs: disk.name).putAtOnce(1, [1])
        let newer = Schema(steps: things.released + [Self.second])
        let store = try Database(path: "db", schema: newer, vfs: disk.name)
        try store.write { try store.run("UPDATE things SET name = ?", "one") }
        try store.commitBatch()
        let name = try store.firstRow("SELECT name FROM things") { row throws(StorageError) in
            try row.text(0)
        }
        #expect(name == "one")
    }

    @Test func aFailingStepLeavesTheEarlierSchema() throws {
        try Database(path: "db", schema: things, vfs: disk.name).putAtOnce(1, [1])
        let wrong = Schema(
            steps: things.released + [
                Self.second, SchemaStep("again", "CREATE TABLE things (id INTEGER) STRICT"),
            ])
        #expect(throws: StorageError.failed(code: SQLITE_ERROR)) {
            try Database(path: "db", schema: wrong, vfs: disk.name)
        }
        #expect(try Database(path: "db", schema: things, vfs: disk.name).body(1) == [1])
    }

    @Test func whatIsNoDatabaseIsDamaged() throws {
        disk.replace("db", with: Array(repeating: 0x41, count: 5000))
        #expect(throws: StorageError.damaged) {
            try Database(path: "db", schema: things, vfs: disk.name)
        }
        #expect(disk.bytes(of: "db") == Array(repeating: 0x41, count: 5000))
    }

    @Test func aPageThatContradictsItselfIsDamaged() throws {
        let store = try Database(path: "db", schema: things, vfs: disk.name)
        try store.write {
            for id in 1...300 { try store.put(Int64(id), [UInt8](repeating: 1, count: 100)) }
        }
        try store.commitBatch()
        store.close()
        var bytes = disk.bytes(of: "db")
        bytes.replaceSubrange(8192..<8292, with: repeatElement(0xEE, count: 100))
        disk.replace("db", with: bytes)
        #expect(throws: StorageError.damaged) {
            try Database(path: "db", schema: things, vfs: disk.name)
        }
    }

    @Test func theFilesArePrivateWhateverTheMask() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "db")
        let store = try Database(path: path, schema: things)
        try store.putAtOnce(1, [1])
        #expect(mode(of: path) == 0o600 && mode(of: path + "-wal") == 0o600)
        #expect(mode(of: path + "-shm") == nil)
    }

    @Test(arguments: ["", "-wal", "-journal"])
    func aLooseFileIsRefused(suffix: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "db")
        try writeFile(path, [])
        try writeFile(path + suffix, [], mode: 0o640)
        let loose = StateFolderError.loose(path + suffix, found: 0o640, wanted: 0o600)
        #expect(throws: StorageError.refused(loose)) { try Database(path: path, schema: things) }
        #expect(loose.sentence.contains("chmod 600 \(path + suffix)"))
    }

    @Test func aLinkIsRefused() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "db")
        try writeFile(folder.path(of: "real"), [])
        #expect(symlink(folder.path(of: "real"), path) == 0)
        #expect(throws: StorageError.refused(.symbolicLink(path))) {
            try Database(path: path, schema: things)
        }
    }

    @Test func aLogWithoutItsFileIsNoNewDatabase() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "db")
        let store = try Database(path: path, schema: things)
        try store.putAtOnce(1, [1])
        let lone = folder.path(of: "lone")
        try writeFile(lone + "-wal", readFile(path + "-wal"))
        #expect(throws: StorageError.damaged) { try Database(path: lone, schema: things) }
        #expect(readFile(lone + "-wal") == readFile(path + "-wal"))
    }

    @Test func aFileOfAnotherConnectionIsRefused() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "db")
        let store = try Database(path: path, schema: things)
        #expect(throws: StorageError.failed(code: SQLITE_BUSY)) {
            try Database(path: path, schema: things)
        }
        try store.putAtOnce(1, [1])
    }

    @Test func aNameThatLooksLikeAnAddressIsAName() throws {
        let store = try Database(path: "file:db?vfs=nothing", schema: things, vfs: disk.name)
        try store.putAtOnce(1, [1])
        #expect(disk.fileNames.contains("file:db?vfs=nothing"))
    }
}

extension Schema {
    /// The one step of `things`, to build longer schemas on.
    fileprivate var released: [SchemaStep] {
        [
            SchemaStep(
                "things", "CREATE TABLE things (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
        ]
    }
}
