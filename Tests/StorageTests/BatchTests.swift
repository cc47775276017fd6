import CSQLite
import DiskDouble
import Storage
import Testing

@Suite struct BatchRules {
    let disk = TestDisk()

    private func open(_ other: TestDisk? = nil) throws -> Database {
        try Database(path: "db", schema: things, vfs: (other ?? disk).name)
    }

    @Test func theWritesOfABatchBecomeDurableTogether() throws {
        let store = try open()
        #expect(!store.hasOpenBatch)
        try store.write { try store.put(1, [1]) }
        try store.write { try store.put(2, [2]) }
        #expect(store.hasOpenBatch)
        try store.commitBatch()
        #expect(!store.hasOpenBatch)
        let after = disk.kill { false }
        #expect(try open(after).everything() == [1: [1], 2: [2]])
    }

    @Test func anUncommittedBatchIsGoneAfterAKill() throws {
        let store = try open()
        try store.putAtOnce(1, [1])
        try store.write { try store.put(2, [2]) }
        let after = disk.kill { true }
        #expect(try open(after).everything() == [1: [1]])
    }

    @Test func aFailingBodyUndoesItselfAlone() throws {
        let store = try open()
        try store.write { try store.put(1, [1]) }
        #expect(throws: Broken()) {
            try store.write {
                try store.put(1, [9])
                try store.put(2, [2])
                throw Broken()
            }
        }
        try store.write { try store.put(3, [3]) }
        try store.commitBatch()
        #expect(try store.everything() == [1: [1], 3: [3]])
    }

    @Test func aFailingStatementUndoesItsRequestAlone() throws {
        let store = try open()
        try store.write { try store.put(1, [1]) }
        #expect(throws: StorageError.failed(code: SQLITE_CONSTRAINT | (5 << 8))) {
            try store.write {
                try store.put(2, [2])
                try store.run("INSERT INTO things (id, body) VALUES (3, NULL)")
            }
        }
        try store.commitBatch()
        #expect(try store.everything() == [1: [1]])
    }

    @Test func aWriteWithinAWriteIsUndoneAlone() throws {
        let store = try open()
        try store.write {
            try store.put(1, [1])
            #expect(throws: Broken()) {
                try store.write {
                    try store.put(2, [2])
                    throw Broken()
                }
            }
        }
        try store.commitBatch()
        #expect(try store.everything() == [1: [1]])
    }

    @Test func anAbandonedBatchLeavesNothing() throws {
        let store = try open()
        try store.putAtOnce(1, [1])
        try store.write {
            try store.put(1, [9])
            store.oweErasure()
        }
        store.abandonBatch()
        #expect(!store.hasOpenBatch && !store.erasureOwed)
        #expect(try store.everything() == [1: [1]])
    }

    @Test func aCommitOfNothingIsFine() throws {
        let store = try open()
        try store.commitBatch()
        store.abandonBatch()
        #expect(try store.everything().isEmpty)
    }

    @Test func runTellsHowManyRowsChanged() throws {
        let store = try open()
        let changed = try store.write {
            [
                try store.run("INSERT INTO things VALUES (1, x'01'), (2, x'02')"),
                try store.run("UPDATE things SET body = x'03' WHERE id = 7"),
                try store.run("DELETE FROM things"),
            ]
        }
        #expect(changed == [2, 0, 2])
    }

    @Test func theSameStatementMayRunWithinItself() throws {
        let store = try open()
        try store.write { for id in 1...3 { try store.put(Int64(id), [UInt8(id)]) } }
        let nested = try store.rows("SELECT id FROM things ORDER BY id") { _ throws(StorageError) in
            try store.everything().count
        }
        #expect(nested == [3, 3, 3])
        let inner = try store.rows("SELECT body FROM things WHERE id = ?", 1) {
            _ throws(StorageError) in
            try store.body(2)
        }
        #expect(inner == [[2]])
        try store.commitBatch()
    }

    @Test func sqliteAsksForNoTemporaryFile() throws {
        let store = try open()
        try store.write {
            for id in 0..<200 { try store.put(Int64(id), [UInt8](repeating: 7, count: 20_000)) }
            #expect(throws: Broken()) {
                try store.write {
                    try store.run("UPDATE things SET body = zeroblob(20000)")
                    throw Broken()
                }
            }
        }
        try store.commitBatch()
        #expect(try store.body(199) == [UInt8](repeating: 7, count: 20_000))
        #expect(disk.temporaryFilesAsked == 0)
        #expect(disk.fileNames == ["db", "db-wal"])
    }
}
