internal import Glibc

/// The process's own heap for secrets.
///
/// Blocks come in size classes from chunks that no other memory shares: between guard pages, locked
/// into RAM where allowed, left out of core dumps, zero in a forked child. What is larger than the
/// largest class has a mapping of its own. Every block that is handed out is all zero and 16-byte
/// aligned, since it is wiped when it comes back. The lists of free blocks live in ordinary memory:
/// they hold addresses only, and outlast the wiping of a fork.
///
/// A child forked while another thread holds the lock must not use the arena: Coffer forks only to
/// start another program.
final class Arena: @unchecked Sendable {
    static let shared = Arena()

    static let blockBytesMax = 1 << (smallestShift + classCount - 1)
    private static let smallestShift = 6
    private static let classCount = 7
    private static let chunkBytesMin = 64 * 1024
    private static let chunkBlocksMin = 64

    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    /// Stands for every block of no bytes, which nobody can read or write; most JSON writers never
    /// hold another one.
    private let nothing = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
    private var freeBlocks = [[UnsafeMutableRawPointer]](repeating: [], count: classCount)
    private var refused = Refusals()

    /// What the kernel would not do for our memory, since the process began.
    struct Refusals {
        var locking = false
        var advice = false
    }

    private init() {
        lock = .allocate(capacity: 1)
        precondition(pthread_mutex_init(lock, nil) == 0, "no lock for the arena")
    }

    var refusals: Refusals { locked { refused } }

    /// A zeroed block of at least `count` bytes; the process ends when the machine has no memory.
    func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        precondition(count >= 0, "a negative count of bytes")
        guard count > 0 else { return nothing }
        guard let sizeClass = Self.sizeClass(of: count) else {
            return locked { map(Self.wholePages(count)) }
        }
        return locked {
            if freeBlocks[sizeClass].isEmpty { addChunk(sizeClass) }
            return freeBlocks[sizeClass].removeLast()
        }
    }

    /// Wipes a block that `allocate(count)` handed out, and takes it back.
    func release(_ block: UnsafeMutableRawPointer, _ count: Int) {
        guard count > 0 else { return }
        guard let sizeClass = Self.sizeClass(of: count) else {
            wipe(UnsafeMutableRawBufferPointer(start: block, count: count))
            unmap(block, Self.wholePages(count))
            return
        }
        let size = Self.blockBytes(sizeClass)
        wipe(UnsafeMutableRawBufferPointer(start: block, count: size))
        locked { freeBlocks[sizeClass].append(block) }
    }

    private func addChunk(_ sizeClass: Int) {
        let size = Self.blockBytes(sizeClass)
        let chunkBytes = max(Self.chunkBytesMin, size * Self.chunkBlocksMin)
        let chunk = map(chunkBytes)
        for offset in stride(from: chunkBytes - size, through: 0, by: -size) {
            freeBlocks[sizeClass].append(chunk + offset)
        }
    }

    /// New zeroed pages between two guard pages; the result is the first byte after the lower
    /// guard.
    private func map(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let whole = byteCount + 2 * Self.pageBytes
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let region = mmap(nil, whole, PROT_NONE, flags, -1, 0), region != MAP_FAILED else {
            fatalError("no memory for secrets")
        }
        let inner = region + Self.pageBytes
        guard mprotect(inner, byteCount, PROT_READ | PROT_WRITE) == 0 else {
            fatalError("no memory for secrets")
        }
        let dumpLeft = madvise(inner, byteCount, Int32(MADV_DONTDUMP)) == 0
        let forkLeft = madvise(inner, byteCount, Int32(MADV_WIPEONFORK)) == 0
        if !dumpLeft || !forkLeft { refused.advice = true }
        if mlock(inner, byteCount) != 0 { refused.locking = true }
        return inner
    }

    private func unmap(_ inner: UnsafeMutableRawPointer, _ byteCount: Int) {
        let whole = byteCount + 2 * Self.pageBytes
        precondition(munmap(inner - Self.pageBytes, whole) == 0, "not a mapping of the arena")
    }

    private func locked<R>(_ body: () -> R) -> R {
        precondition(pthread_mutex_lock(lock) == 0, "the arena's lock is broken")
        defer { pthread_mutex_unlock(lock) }
        return body()
    }

    private static let pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))

    private static func sizeClass(of count: Int) -> Int? {
        guard count > 1 << smallestShift else { return 0 }
        guard count <= blockBytesMax else { return nil }
        return Int.bitWidth - (count - 1).leadingZeroBitCount - smallestShift
    }

    private static func blockBytes(_ sizeClass: Int) -> Int { 1 << (smallestShift + sizeClass) }

    private static func wholePages(_ count: Int) -> Int {
        precondition(count <= Int.max - 3 * pageBytes, "more bytes than there are addresses")
        return (count + pageBytes - 1) / pageBytes * pageBytes
    }
}
