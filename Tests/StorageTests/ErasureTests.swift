import CSQLite
import DiskDouble
import Glibc
import Storage
import TestKit
import Testing

@Suite struct ErasureRules {
    let disk = TestDisk()
    let secret = Array("the device secret of somebody, 1".utf8)

    private func open(_ other: TestDisk? = nil) throws -> Database {
        try Database(path: "db", schema: things, vfs: (other ?? disk).name)
    }

    @Test func withoutAnErasureTheOldBytesStayInTheLog() throws {
        let store = try open()
        try store.putAtOnce(1, secret)
        try store.write { _ = try store.remove(1) }
        try store.commitBatch()
        #expect(disk.holds(secret))
    }

    @Test func afterTheCommitTheBytesAreInNoFile() throws {
        let store = try open()
        try store.putAtOnce(1, secret)
        #expect(disk.holds(secret))
        try store.write {
            _ = try store.remove(1)
            store.oweErasure()
        }
        #expect(store.erasureOwed)
        try store.commitBatch()
        #expect(!store.erasureOwed)
        #expect(!disk.holds(secret))
        #expect(disk.bytes(of: "db-wal").isEmpty)
        // A power cut does not bring the log back.
        #expect(!disk.kill { false }.holds(secret))
    }

    @Test func onDiskTheBytesAreInNeitherFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "db")
        let store = try Database(path: path, schema: things)
        try store.putAtOnce(1, secret)
        #expect(find(secret, in: readFile(path + "-wal")))
        try store.write {
            _ = try store.remove(1)
            store.oweErasure()
        }
        try store.commitBatch()
        #expect(!find(secret, in: readFile(path)))
        #expect(readFile(path + "-wal").isEmpty)
    }

    @Test(arguments: [TestDisk.Operation.write, .sync, .truncate], [0, 1])
    func aFailedErasureStaysOwedUntilItSucceeds(operation: TestDisk.Operation, after: Int) throws {
        let store = try open()
        try store.putAtOnce(1, secret)
        try store.write {
            _ = try store.remove(1)
            store.oweErasure()
        }
        // The commit itself writes and syncs the log first.
        let commitOnly = try commitCost()
        let skipped = [.write: commitOnly.writes, .sync: commitOnly.syncs][operation] ?? 0
        disk.fault = .init(operation: operation, code: SQLITE_IOERR, after: skipped + after)
        #expect(throws: StorageError.residue(code: SQLITE_IOERR)) { try store.commitBatch() }
        #expect(store.erasureOwed && !store.hasOpenBatch)
        #expect(try store.body(1) == nil)

        // The next batch may not say done either.
        try store.write { try store.put(2, [2]) }
        disk.fault = .init(operation: .truncate, code: SQLITE_IOERR)
        #expect(throws: StorageError.residue(code: SQLITE_IOERR)) { try store.commitBatch() }
        #expect(throws: StorageError.residue(code: SQLITE_IOERR)) { try store.settleErasure() }
        #expect(store.erasureOwed)

        disk.fault = nil
        try store.settleErasure()
        #expect(!store.erasureOwed && !disk.holds(secret))
        #expect(try store.everything() == [2: [2]])
    }

    /// What the commit of one removed row asks of the disk, without the erasure.
    private func commitCost() throws -> (writes: Int, syncs: Int) {
        let disk = TestDisk()
        let store = try Database(path: "db", schema: things, vfs: disk.name)
        try store.putAtOnce(1, secret)
        try store.write {
            _ = try store.remove(1)
            // An erasure that is owed is noted in the file.
            try store.run("PRAGMA application_id = 1")
        }
        let before = disk.changes
        try store.commitBatch()
        return (disk.changes - before - 1, 1)
    }

    @Test func anErasureGoesBackWithItsRequest() throws {
        let store = try open()
        try store.putAtOnce(1, secret)
        #expect(throws: Broken()) {
            try store.write {
                _ = try store.remove(1)
                store.oweErasure()
                throw Broken()
            }
        }
        #expect(!store.erasureOwed)
        try store.commitBatch()
        #expect(try store.body(1) == secret)
    }

    @Test func afterACommitOfUnknownOutcomeReopeningSettlesTheErasure() throws {
        let store = try open()
        try store.putAtOnce(1, secret)
        try store.write {
            _ = try store.remove(1)
            store.oweErasure()
        }
        disk.fault = .init(operation: .sync, code: SQLITE_IOERR)
        #expect(throws: StorageError.failed(code: SQLITE_IOERR)) { try store.commitBatch() }
        #expect(store.erasureOwed)
        #expect(throws: StorageError.self) { try store.reopen() }
        #expect(store.erasureOwed)
        disk.fault = nil
        try store.reopen()
        #expect(!store.erasureOwed)
        #expect(try store.body(1) == nil ? !disk.holds(secret) : true)
    }

    @Test func openingErasesWhatAKilledProcessLeft() throws {
        let store = try open()
        try store.putAtOnce(1, secret)
        try store.write { _ = try store.remove(1) }
        try store.commitBatch()
        let after = disk.kill { true }
        #expect(after.holds(secret))
        let next = try open(after)
        #expect(!after.holds(secret))
        #expect(try next.everything().isEmpty)
    }

    @Test func openingRefusesToServeWhileItCannotErase() throws {
        let store = try open()
        try store.putAtOnce(1, secret)
        let after = disk.kill { true }
        after.fault = .init(operation: .truncate, code: SQLITE_IOERR)
        #expect(throws: StorageError.residue(code: SQLITE_IOERR)) { try open(after) }
    }

    @Test func aKillAtEveryStepOfAnErasureLeavesTheRowOrNothing() throws {
        var generator = SeededGenerator(seed: 0xE4A5E)
        var steps = 0
        while true {
            let disk = TestDisk()
            let store = try Database(path: "db", schema: things, vfs: disk.name)
            try store.putAtOnce(1, secret)
            for id in 2...20 { try store.putAtOnce(Int64(id), generator.bytes(300)) }
            disk.killAfter = steps
            let isAcknowledged: Bool
            do {
                try store.write {
                    _ = try store.remove(1)
                    store.oweErasure()
                }
                try store.commitBatch()
                isAcknowledged = true
            } catch {
                isAcknowledged = false
            }
            let after = disk.kill { Bool.random(using: &generator) }
            if isAcknowledged { #expect(!after.holds(secret)) }
            let next = try Database(path: "db", schema: things, vfs: after.name)
            let body = try next.body(1)
            if isAcknowledged { #expect(body == nil) }
            #expect(body == nil ? !after.holds(secret) : body == secret, "step \(steps)")
            #expect(try next.everything().count == (body == nil ? 19 : 20))
            if isAcknowledged { break }
            steps += 1
        }
        #expect(steps > 10)
    }

    @Test func openingErasesWhatAKilledProcessLeftOnARealDisk() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "db")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try Database(path: path, schema: things)
            try store.putAtOnce(1, Array("the device secret of somebody, 1".utf8))
            try store.write { _ = try store.remove(1) }
            try store.commitBatch()
            kill(getpid(), SIGKILL)
        }
        #expect(find(secret, in: readFile(path + "-wal")))
        let next = try Database(path: path, schema: things)
        #expect(readFile(path + "-wal").isEmpty && !find(secret, in: readFile(path)))
        #expect(try next.everything().isEmpty)
    }
}
