import DiskDouble
import Secrets
import Storage
import Testing

@Suite struct ValueRules {
    let disk = TestDisk()

    private func open() throws -> Database {
        let schema = Schema(steps: [SchemaStep("any", "CREATE TABLE any (value ANY) STRICT")])
        return try Database(path: "db", schema: schema, vfs: disk.name)
    }

    private func keep(_ value: SQLValue, in store: Database) throws {
        try store.write {
            try store.run("DELETE FROM any")
            try store.run("INSERT INTO any VALUES (?)", value)
        }
    }

    private func read<T: ~Copyable>(
        _ store: Database, _ map: (borrowing Row) throws(StorageError) -> T
    ) throws -> T {
        guard let value = try store.firstRow("SELECT value FROM any", map: map) else {
            throw Broken()
        }
        return value
    }

    @Test(arguments: [0, 1, -1, Int64.max, Int64.min])
    func integersComeBack(number: Int64) throws {
        let store = try open()
        try keep(.integer(number), in: store)
        #expect(try read(store) { row throws(StorageError) in try row.integer(0) } == number)
    }

    @Test(arguments: ["", "a", "zero\0within", "żółw 🐢"])
    func textsComeBack(text: String) throws {
        let store = try open()
        try keep(.text(text), in: store)
        #expect(try read(store) { row throws(StorageError) in try row.text(0) } == text)
    }

    @Test(arguments: [0, 1, 16, 5000, 100_000])
    func bytesAndSecretsComeBack(count: Int) throws {
        let store = try open()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        for value in [SQLValue.blob(bytes), .secret(SharedSecret(SecretBytes(copying: bytes)))] {
            try keep(value, in: store)
            #expect(try read(store) { row throws(StorageError) in try row.blob(0) } == bytes)
            let secret = try read(store) { row throws(StorageError) in try row.secret(0) }
            let isSame = secret.isEqual(to: SecretBytes(copying: bytes))
            #expect(isSame)
        }
    }

    @Test func absentValuesAreNull() throws {
        let store = try open()
        for value in [
            nil, .optional([UInt8]?.none), .optional(String?.none), .optional(Int64?.none),
        ]
            as [SQLValue]
        {
            try keep(value, in: store)
            #expect(try read(store) { row throws(StorageError) in row.isNull(0) })
            #expect(try read(store) { row throws(StorageError) in try row.optionalBlob(0) } == nil)
            #expect(try read(store) { row throws(StorageError) in try row.optionalText(0) } == nil)
            #expect(
                try read(store) { row throws(StorageError) in try row.optionalInteger(0) } == nil)
            #expect(
                try read(store) { row throws(StorageError) in try row.optionalSecret(0) == nil })
        }
    }

    @Test func everyOtherTypeIsRefused() throws {
        let store = try open()
        let wrong = StorageError.wrongType(column: 0)
        for value in [nil, .text("7"), .blob([7])] as [SQLValue] {
            try keep(value, in: store)
            #expect(throws: wrong) {
                try read(store) { row throws(StorageError) in try row.integer(0) }
            }
        }
        for value in [nil, 7, .blob([7])] as [SQLValue] {
            try keep(value, in: store)
            #expect(throws: wrong) {
                try read(store) { row throws(StorageError) in try row.text(0) }
            }
        }
        for value in [nil, 7, .text("7")] as [SQLValue] {
            try keep(value, in: store)
            #expect(throws: wrong) {
                try read(store) { row throws(StorageError) in try row.blob(0) }
            }
            #expect(throws: wrong) {
                _ = try read(store) { row throws(StorageError) in try row.secret(0) }
            }
        }
    }

    @Test func invalidUTF8IsDamaged() throws {
        let store = try open()
        try store.write { try store.run("INSERT INTO any VALUES (CAST(x'FF41' AS TEXT))") }
        #expect(throws: StorageError.damaged) {
            try read(store) { row throws(StorageError) in try row.text(0) }
        }
    }

    @Test func anEmptyAnswerIsNoRow() throws {
        let store = try open()
        let row = try store.firstRow("SELECT value FROM any") { row throws(StorageError) in
            try row.integer(0)
        }
        #expect(row == nil)
    }

    @Test func aValueOverTheBoundIsRefused() throws {
        let store = try open()
        #expect(throws: StorageError.self) {
            try keep(.blob([UInt8](repeating: 1, count: 17 << 20)), in: store)
        }
        try keep(1, in: store)
    }
}
