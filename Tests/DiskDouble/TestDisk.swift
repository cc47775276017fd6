internal import CSQLite
internal import Glibc
internal import Storage
internal import TestKit

/// A SQLite file system in memory that fails, fills up and loses un-synced writes on demand.
///
/// It stays registered, and so alive, as long as the test process: a connection may outlive a
/// test's own reference. It has no shared memory and refuses temporary files, as the store promises
/// to need neither.
public final class TestDisk: @unchecked Sendable {
    // Safe to send: whoever has it uses it on one thread at a time.
    /// What the disk does on one kind of operation.
    public struct Fault {
        public var operation: Operation
        /// What SQLite is told.
        public var code: Int32
        /// How many operations of the kind succeed first.
        public var after: Int
        /// Whether every later one fails too.
        public var stays: Bool

        public init(operation: Operation, code: Int32, after: Int = 0, stays: Bool = true) {
            self.operation = operation
            self.code = code
            self.after = after
            self.stays = stays
        }

        public static func full(after: Int, stays: Bool) -> Fault {
            Fault(operation: .write, code: SQLITE_FULL, after: after, stays: stays)
        }

        public static func failedWrite(after: Int) -> Fault {
            Fault(operation: .write, code: SQLITE_IOERR, after: after, stays: false)
        }

        public static func failedSync(after: Int) -> Fault {
            Fault(operation: .sync, code: SQLITE_IOERR, after: after, stays: false)
        }
    }

    public enum Operation: Sendable {
        case write
        case sync
        case truncate
    }

    public let name: String
    public var fault: Fault?
    /// How many changing operations the disk still takes before the process is killed in the next.
    public var killAfter: Int?
    public private(set) var temporaryFilesAsked = 0
    public private(set) var changes = 0
    /// What the disk did wrong.
    public private(set) var failures = Failures()

    /// How often a disk failed.
    public struct Failures: Sendable {
        public var fullWrites = 0
        public var failedWrites = 0
        public var failedSyncs = 0
        /// Sectors that were written, not synced, and lost with the power.
        public var lostSectors = 0
    }

    /// Whether syncs are answered and not done: what a store with its settings wrong relies on.
    public var ignoresSyncs = false

    fileprivate var files: [String: Content] = [:]
    private var isDead = false
    fileprivate let generator = SeededRandom(seed: 1)
    private var fileSystem: UnsafeMutablePointer<sqlite3_vfs>?

    public init() {
        // SQLite's memory has to be chosen before its first use, which the registration is.
        precondition(StorageMemory.wipesOnRelease)
        name = "disk-\(UInt64.random(in: 0...UInt64.max))"
        register()
    }

    public var fileNames: [String] { files.keys.sorted() }

    public func bytes(of file: String) -> [UInt8] { files[file]?.bytes ?? [] }

    public func replace(_ file: String, with bytes: [UInt8]) {
        files[file] = Content(bytes: bytes, durable: bytes)
    }

    /// Whether any file holds the bytes.
    public func holds(_ needle: [UInt8]) -> Bool {
        files.values.contains { find(needle, in: $0.bytes) }
    }

    /// Whether any file holds one of the eight-byte stretches.
    public func holds(anyOf stretches: Set<UInt64>) -> Bool {
        files.values.contains { content in
            content.bytes.withUnsafeBytes { bytes in
                guard bytes.count >= 8 else { return false }
                return (0...bytes.count - 8).contains {
                    stretches.contains(bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
                }
            }
        }
    }

    /// Ends the process that has the files open, and gives the disk that the next one finds.
    ///
    /// Of what was not synced, `keep` says what survives. Whatever the ended process still asks of
    /// this disk fails.
    public func kill(keep: () -> Bool) -> TestDisk {
        let next = TestDisk()
        for name in files.keys.sorted() {
            next.files[name] = files[name]
            next.failures.lostSectors += next.files[name]?.lose(keep: keep) ?? 0
        }
        files = [:]
        isDead = true
        return next
    }

    /// Takes the disk out of the process: no connection to it is open any more.
    public func retire() {
        guard let vfs = fileSystem else { return }
        fileSystem = nil
        sqlite3_vfs_unregister(vfs)
        free(UnsafeMutablePointer(mutating: vfs.pointee.zName))
        vfs.deallocate()
        Unmanaged.passUnretained(self).release()
    }

    /// Counts a changing operation; the code with which it fails, if it does.
    fileprivate func failure(of operation: Operation) -> Int32? {
        changes += 1
        if let left = killAfter {
            if left == 0 { return SQLITE_IOERR }
            killAfter = left - 1
        }
        guard let planned = fault, planned.operation == operation else { return nil }
        guard planned.after == 0 else {
            fault?.after -= 1
            return nil
        }
        if !planned.stays { fault = nil }
        count(planned)
        return planned.code
    }

    private func count(_ fault: Fault) {
        switch (fault.operation, fault.code) {
        case (.sync, _): failures.failedSyncs += 1
        case (_, SQLITE_FULL): failures.fullWrites += 1
        default: failures.failedWrites += 1
        }
    }

    fileprivate func open(_ file: String?) -> Bool {
        if isDead { return false }
        guard let file else {
            temporaryFilesAsked += 1
            return false
        }
        if files[file] == nil { files[file] = Content() }
        return true
    }

    private func register() {
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: sqlite3_vfs())
        vfs.pointee.iVersion = 1
        vfs.pointee.szOsFile = Int32(Handle.size)
        vfs.pointee.mxPathname = 256
        vfs.pointee.zName = strdup(name).map { UnsafePointer($0) }
        vfs.pointee.pAppData = Unmanaged.passRetained(self).toOpaque()
        installFileSystem(vfs)
        precondition(sqlite3_vfs_register(vfs, 0) == SQLITE_OK)
        fileSystem = vfs
    }
}

/// One file: what a reader sees, what the platter has, and the way from one to the other.
struct Content {
    var bytes: [UInt8] = []
    var durable: [UInt8] = []
    private var unsynced: [Change] = []

    init(bytes: [UInt8] = [], durable: [UInt8] = []) {
        self.bytes = bytes
        self.durable = durable
    }

    private enum Change {
        case write(at: Int, [UInt8])
        case truncate(to: Int)
    }

    mutating func write(_ data: [UInt8], at offset: Int) {
        let change = Change.write(at: offset, data)
        Self.apply(change, to: &bytes)
        unsynced.append(change)
    }

    mutating func truncate(to size: Int) {
        Self.apply(.truncate(to: size), to: &bytes)
        unsynced.append(.truncate(to: size))
    }

    mutating func sync() {
        durable = bytes
        unsynced = []
    }

    /// Each un-synced change survives or not, whole sectors of a write each for itself.
    ///
    /// - Returns: how many sectors do not.
    mutating func lose(keep: () -> Bool) -> Int {
        var lost = 0
        for change in unsynced {
            guard case .write(let offset, let data) = change else {
                if keep() { Self.apply(change, to: &durable) }
                continue
            }
            for start in stride(from: 0, to: data.count, by: 512) {
                guard keep() else {
                    lost += 1
                    continue
                }
                let sector = Array(data[start..<min(start + 512, data.count)])
                Self.apply(.write(at: offset + start, sector), to: &durable)
            }
        }
        bytes = durable
        unsynced = []
        return lost
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let data):
            let missing = offset + data.count - bytes.count
            if missing > 0 { bytes += [UInt8](repeating: 0, count: missing) }
            bytes.replaceSubrange(offset..<offset + data.count, with: data)
        case .truncate(let size):
            if size < bytes.count { bytes.removeSubrange(size...) }
        }
    }
}

/// Whether the bytes occur.
public func find(_ needle: [UInt8], in bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { all in
        guard let first = needle.first, let start = all.baseAddress else { return false }
        var position = 0
        while position + needle.count <= all.count {
            let left = all.count - needle.count - position + 1
            guard let hit = memchr(start + position, Int32(first), left) else { return false }
            if memcmp(hit, needle, needle.count) == 0 { return true }
            position = UnsafeRawPointer(hit) - start + 1
        }
        return false
    }
}

/// SQLite's file object: its methods, then the disk and the name.
private struct Handle {
    static let size = 3 * MemoryLayout<UnsafeRawPointer>.stride

    private let base: UnsafeMutableRawPointer

    init?(_ file: UnsafeMutablePointer<sqlite3_file>?) {
        guard let file else { return nil }
        base = UnsafeMutableRawPointer(file)
    }

    func initialize(disk: TestDisk, name: UnsafePointer<CChar>) {
        let pointer = Unmanaged.passUnretained(disk).toOpaque()
        base.storeBytes(of: pointer, toByteOffset: 8, as: UnsafeMutableRawPointer.self)
        // SQLite keeps the name in place until it closes the file.
        base.storeBytes(of: name, toByteOffset: 16, as: UnsafePointer<CChar>.self)
    }

    var name: String {
        String(cString: base.load(fromByteOffset: 16, as: UnsafePointer<CChar>.self))
    }

    var disk: TestDisk {
        let pointer = base.load(fromByteOffset: 8, as: UnsafeMutableRawPointer.self)
        return Unmanaged<TestDisk>.fromOpaque(pointer).takeUnretainedValue()
    }
}

private func diskOf(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> TestDisk? {
    guard let data = vfs?.pointee.pAppData else { return nil }
    return Unmanaged<TestDisk>.fromOpaque(data).takeUnretainedValue()
}

private func installFileSystem(_ vfs: UnsafeMutablePointer<sqlite3_vfs>) {
    vfs.pointee.xOpen = { vfs, name, file, flags, flagsOut in
        file?.pointee.pMethods = nil
        guard let disk = diskOf(vfs), let handle = Handle(file) else { return SQLITE_CANTOPEN }
        guard disk.open(name.map { String(cString: $0) }), let name else { return SQLITE_CANTOPEN }
        handle.initialize(disk: disk, name: name)
        file?.pointee.pMethods = UnsafePointer(fileMethods)
        flagsOut?.pointee = flags
        return SQLITE_OK
    }
    vfs.pointee.xDelete = { vfs, name, _ in
        guard let disk = diskOf(vfs), let name else { return deletionFailed }
        disk.files[String(cString: name)] = nil
        return SQLITE_OK
    }
    vfs.pointee.xAccess = { vfs, name, _, found in
        guard let disk = diskOf(vfs), let name else { return SQLITE_IOERR }
        found?.pointee = disk.files[String(cString: name)] == nil ? 0 : 1
        return SQLITE_OK
    }
    vfs.pointee.xFullPathname = { _, name, count, out in
        guard let name, let out, strlen(name) < count else { return SQLITE_CANTOPEN }
        strcpy(out, name)
        return SQLITE_OK
    }
    vfs.pointee.xRandomness = { vfs, count, out in
        guard let disk = diskOf(vfs), let out else { return 0 }
        for index in 0..<Int(count) {
            out[index] = CChar(truncatingIfNeeded: disk.generator.next())
        }
        return count
    }
    vfs.pointee.xSleep = { _, microseconds in microseconds }
    vfs.pointee.xCurrentTime = { _, day in
        day?.pointee = 2_460_000
        return SQLITE_OK
    }
    vfs.pointee.xGetLastError = { _, _, _ in 0 }
}

private let deletionFailed = SQLITE_IOERR | (10 << 8)

nonisolated(unsafe) private let fileMethods: UnsafeMutablePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: sqlite3_io_methods())
    methods.pointee.iVersion = 1
    methods.pointee.xClose = { _ in SQLITE_OK }
    methods.pointee.xRead = readFile
    methods.pointee.xWrite = { file, data, count, offset in
        change(file, .write) { content in
            content.write(
                [UInt8](UnsafeRawBufferPointer(start: data, count: Int(count))), at: Int(offset))
        }
    }
    methods.pointee.xTruncate = { file, size in
        change(file, .truncate) { $0.truncate(to: Int(size)) }
    }
    methods.pointee.xSync = { file, _ in
        let ignores = Handle(file)?.disk.ignoresSyncs == true
        return change(file, .sync) { if !ignores { $0.sync() } }
    }
    methods.pointee.xFileSize = { file, size in
        guard let handle = Handle(file) else { return SQLITE_IOERR }
        size?.pointee = sqlite3_int64(handle.disk.bytes(of: handle.name).count)
        return SQLITE_OK
    }
    methods.pointee.xLock = { _, _ in SQLITE_OK }
    methods.pointee.xUnlock = { _, _ in SQLITE_OK }
    methods.pointee.xCheckReservedLock = { _, held in
        held?.pointee = 0
        return SQLITE_OK
    }
    methods.pointee.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    methods.pointee.xSectorSize = { _ in 512 }
    methods.pointee.xDeviceCharacteristics = { _ in 0 }
    return methods
}()

private func readFile(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ out: UnsafeMutableRawPointer?, _ count: Int32,
    _ offset: sqlite3_int64
) -> Int32 {
    guard let handle = Handle(file), let out else { return SQLITE_IOERR }
    let bytes = handle.disk.bytes(of: handle.name)
    let available = max(0, min(Int(count), bytes.count - Int(offset)))
    memset(out, 0, Int(count))
    bytes.withUnsafeBytes { source in
        guard available > 0, let start = source.baseAddress else { return }
        out.copyMemory(from: start + Int(offset), byteCount: available)
    }
    return available == Int(count) ? SQLITE_OK : SQLITE_IOERR | (2 << 8)
}

private func change(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ operation: TestDisk.Operation,
    _ body: (inout Content) -> Void
) -> Int32 {
    guard let handle = Handle(file) else { return SQLITE_IOERR }
    let disk = handle.disk
    if let code = disk.failure(of: operation) { return code }
    guard var content = disk.files.removeValue(forKey: handle.name) else { return SQLITE_IOERR }
    body(&content)
    disk.files[handle.name] = content
    return SQLITE_OK
}
