internal import CSQLite
internal import Glibc
internal import Secrets

/// The memory that SQLite works in.
///
/// Rows pass through SQLite's own heap, which it releases as it is. So the library gets an
/// allocator that wipes a block before it lets it go. That must be said before the library's first
/// use in the process; whoever uses SQLite beside `Database` (a test that registers a file system)
/// reads this property first.
public enum StorageMemory {
    /// Whether SQLite's memory is wiped when released.
    ///
    /// False only where something else in the process had started the library before.
    public static let wipesOnRelease: Bool = {
        var methods = sqlite3_mem_methods(
            xMalloc: { malloc(Int($0)) },
            xFree: { releaseWiped($0) },
            xRealloc: { old, count in moveWiped(old, count) },
            xSize: { Int32(clamping: malloc_usable_size($0)) },
            xRoundup: { ($0 + 7) & ~7 },
            xInit: { _ in SQLITE_OK },
            xShutdown: { _ in },
            pAppData: nil)
        return coffer_sqlite3_refuse_uris() == SQLITE_OK
            && coffer_sqlite3_use_memory(&methods) == SQLITE_OK
    }()
}

private func releaseWiped(_ block: UnsafeMutableRawPointer?) {
    guard let block else { return }
    wipe(UnsafeMutableRawBufferPointer(start: block, count: malloc_usable_size(block)))
    free(block)
}

/// A grown or shrunk block, moved by hand because `realloc` would leave the old one as it is.
private func moveWiped(
    _ old: UnsafeMutableRawPointer?, _ count: Int32
) -> UnsafeMutableRawPointer? {
    guard let new = malloc(Int(count)) else { return nil }
    guard let old else { return new }
    new.copyMemory(from: old, byteCount: min(malloc_usable_size(old), Int(count)))
    releaseWiped(old)
    return new
}
