import CSQLite
import DiskDouble
import Storage
import Testing

@Suite struct DiskFailureRules {
    let disk = TestDisk()

    private func open(_ other: TestDisk? = nil) throws -> Database {
        try Database(path: "db", schema: things, vfs: (other ?? disk).name)
    }

    @Test(arguments: [
        (TestDisk.Operation.write, SQLITE_FULL, StorageError.full),
        (.write, SQLITE_IOERR | (3 << 8), .failed(code: SQLITE_IOERR | (3 << 8))),
        (.sync, SQLITE_IOERR | (4 << 8), .failed(code: SQLITE_IOERR | (4 << 8))),
    ])
    func aFailedCommitNeedsAReopenAndThenWorks(
        operation: TestDisk.Operation, code: Int32, expected: StorageError
    ) throws {
        let store = try open()
        try store.putAtOnce(1, [1])
        try store.write { try store.put(2, [2]) }
        disk.fault = .init(operation: operation, code: code)
        #expect(throws: expected) { try store.commitBatch() }
        #expect(throws: expected) { try store.write {} }
        #expect(throws: expected) { try store.everything() }
        #expect(throws: expected) { try store.commitBatch() }

        disk.fault = nil
        try store.reopen()
        #expect(try store.body(1) == [1])
        try store.putAtOnce(3, [3])
        #expect(try store.body(3) == [3])
    }

    @Test func aFailedReopenMayBeTriedAgain() throws {
        let store = try open()
        try store.write { try store.put(1, [1]) }
        disk.fault = .init(operation: .write, code: SQLITE_FULL)
        #expect(throws: StorageError.full) { try store.commitBatch() }
        disk.fault = .init(operation: .truncate, code: SQLITE_IOERR)
        #expect(throws: StorageError.residue(code: SQLITE_IOERR)) { try store.reopen() }
        #expect(throws: StorageError.residue(code: SQLITE_IOERR)) { try store.everything() }
        disk.fault = nil
        try store.reopen()
        #expect(try store.everything().isEmpty)
        try store.putAtOnce(1, [1])
    }

    /// Nobody is told of key material where there is only no room.
    @Test func whatCannotBeOpenedOnAFullDiskIsSaidToBeThat() throws {
        let store = try open()
        try store.putAtOnce(1, [1])
        try store.write { try store.put(2, [2]) }
        disk.fault = .init(operation: .write, code: SQLITE_FULL)
        #expect(throws: StorageError.full) { try store.commitBatch() }
        disk.fault = .init(operation: .truncate, code: SQLITE_FULL)
        #expect(throws: StorageError.full) { try store.reopen() }
        disk.fault = nil
        try store.reopen()
        #expect(try store.everything() == [1: [1]])
    }

    @Test func aBatchThatSQLiteEndedByItselfTakesNoMoreWork() throws {
        let store = try open()
        try store.write { try store.put(1, [1]) }
        // What SQLite does on some failures of the disk.
        #expect(throws: (any Error).self) {
            try store.write { try store.run("ROLLBACK") }
        }
        #expect(store.hasOpenBatch)
        #expect(throws: StorageError.self) { try store.write { try store.put(2, [2]) } }
        #expect(throws: StorageError.self) { try store.everything() }
        #expect(throws: StorageError.self) { try store.commitBatch() }
        try store.reopen()
        #expect(try store.everything().isEmpty)
    }

    @Test func aPoisonedBatchCanBeAbandoned() throws {
        let store = try open()
        try store.putAtOnce(1, [1])
        #expect(throws: (any Error).self) {
            try store.write { try store.run("ROLLBACK") }
        }
        store.abandonBatch()
        try store.putAtOnce(2, [2])
        #expect(try store.everything() == [1: [1], 2: [2]])
    }

    @Test func aClosedStoreThrowsUntilItIsReopened() throws {
        let store = try open()
        try store.putAtOnce(1, [1])
        store.close()
        #expect(disk.bytes(of: "db-wal").isEmpty)
        #expect(throws: StorageError.failed(code: SQLITE_MISUSE)) { try store.body(1) }
        try store.reopen()
        #expect(try store.body(1) == [1])
    }

    @Test func aKillAtEveryStepLosesNoAcknowledgedBatch() throws {
        var generator = SeededGenerator(seed: 0xC0FFEE)
        var steps = 0
        while true {
            let disk = TestDisk()
            disk.killAfter = steps
            var acknowledged = 0
            if let store = try? Database(path: "db", schema: things, vfs: disk.name) {
                for id in 1...4 {
                    guard (try? store.putAtOnce(Int64(id), generator.bytes(3000))) != nil else {
                        break
                    }
                    acknowledged = id
                }
            }
            let isOver = acknowledged == 4
            let after = disk.kill { Bool.random(using: &generator) }
            let found = try Database(path: "db", schema: things, vfs: after.name).everything()
            #expect(found.count >= acknowledged && found.count <= acknowledged + 1, "step \(steps)")
            if isOver { break }
            steps += 1
        }
        #expect(steps > 20)
    }
}
