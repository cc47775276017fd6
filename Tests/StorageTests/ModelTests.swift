import CSQLite
import DiskDouble
import Storage
import Testing

@Suite struct ModelRules {
    /// Random batches against a dictionary: commits, abandons, failing requests, kills, reopenings;
    /// and after every erasure none of the removed values is in any file.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func theStoreAgreesWithADictionary(seed: UInt64) throws {
        var run = try ModelRun(seed: seed)
        for step in 0..<250 {
            try run.step()
            try #require(try run.store.everything() == run.seen, "seed \(seed) step \(step)")
        }
        try run.eraseAll()
        #expect(run.disk.temporaryFilesAsked == 0)
    }
}

private struct ModelRun {
    private(set) var disk = TestDisk()
    var store: Database
    /// What the open batch sees.
    var seen: [Int64: [UInt8]] = [:]

    private var durable: [Int64: [UInt8]] = [:]
    private var removed: Set<UInt64> = []
    private var removedInBatch: Set<UInt64> = []
    private var generator: SeededGenerator

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        store = try Database(path: "db", schema: things, vfs: disk.name)
    }

    mutating func step() throws {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<13: try request()
        case 13..<17: try commit()
        case 17: abandon()
        case 18:
            try store.reopen()
            forgetBatch()
        default:
            let surviving = generator.next()
            var keeping = SeededGenerator(seed: surviving)
            disk = disk.kill { Bool.random(using: &keeping) }
            store = try Database(path: "db", schema: things, vfs: disk.name)
            forgetBatch()
        }
    }

    /// Removes everything and looks for every value that ever was.
    mutating func eraseAll() throws {
        try store.write {
            for id in seen.keys { _ = try store.remove(id) }
            store.oweErasure()
        }
        for value in seen.values { removedInBatch.formUnion(stretches(value)) }
        seen = [:]
        try commit(isThorough: true)
    }

    private mutating func request() throws {
        var changed = seen
        var gone: [[UInt8]] = []
        let isFailing = Int.random(in: 0..<5, using: &generator) == 0
        do {
            try store.write {
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let id = Int64.random(in: 0..<60, using: &generator)
                    if let old = changed[id] { gone.append(old) }
                    if Bool.random(using: &generator) {
                        let value = generator.bytes(randomLength())
                        try store.put(id, value)
                        changed[id] = value
                    } else {
                        let existed = try store.remove(id)
                        #expect(existed == (changed.removeValue(forKey: id) != nil))
                    }
                }
                if !gone.isEmpty { store.oweErasure() }
                if isFailing { throw Broken() }
            }
        } catch is Broken {
            return
        }
        seen = changed
        for value in gone { removedInBatch.formUnion(stretches(value)) }
    }

    private mutating func randomLength() -> Int {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: Int.random(in: 4000...20_000, using: &generator)
        case 1..<4: Int.random(in: 500..<4000, using: &generator)
        default: Int.random(in: 24..<500, using: &generator)
        }
    }

    private mutating func commit(isThorough: Bool = false) throws {
        let batchErases = !removedInBatch.isEmpty
        if batchErases, Int.random(in: 0..<6, using: &generator) == 0 {
            try commitWithoutErasure()
        } else {
            try store.commitBatch()
        }
        #expect(!store.erasureOwed)
        durable = seen
        guard batchErases else { return }
        removed.formUnion(removedInBatch)
        removedInBatch = []
        guard isThorough || Int.random(in: 0..<4, using: &generator) == 0 else { return }
        let isClean = !disk.holds(anyOf: removed)
        #expect(isClean, "a removed value is on the disk")
    }

    /// The disk refuses the erasure, and the process ends before it can try again.
    private mutating func commitWithoutErasure() throws {
        disk.fault = .init(operation: .truncate, code: SQLITE_IOERR)
        #expect(throws: StorageError.residue(code: SQLITE_IOERR)) { try store.commitBatch() }
        #expect(store.erasureOwed)
        disk = disk.kill { true }
        store = try Database(path: "db", schema: things, vfs: disk.name)
    }

    /// Stretches of a value at some distance from each other: SQLite may cut it into pages.
    private func stretches(_ value: [UInt8]) -> [UInt64] {
        value.withUnsafeBytes { bytes in
            stride(from: 0, through: value.count - 8, by: 48).map {
                bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)
            }
        }
    }

    private mutating func abandon() {
        store.abandonBatch()
        forgetBatch()
    }

    /// What was rolled back never comes to the disk.
    private mutating func forgetBatch() {
        for (id, value) in seen where durable[id] != value { removed.formUnion(stretches(value)) }
        seen = durable
        removedInBatch = []
    }
}
