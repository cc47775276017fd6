internal import CZMQ
internal import Glibc
internal import Synchronization

/// How many connections a process takes: as many as leave some descriptors for its own files.
///
/// libzmq 4.3.4 aborts the process when a local socket has a connection to accept and no descriptor
/// is left, and has no limit on connections of its own. So whoever may connect could end a service
/// without a key. Here a connection too many is accepted and closed at once.
enum ConnectionLimit {
    /// Descriptors that are kept for stores, peers' entries and links to other services.
    private static let reserve: UInt64 = 64

    /// Connections that were closed at once since the start.
    static let refused = Atomic<UInt64>(0)

    /// Whether a connection with this descriptor may stay; descriptors are given from below.
    ///
    /// - Parameter limit: how many descriptors the process may have, `RLIMIT_NOFILE`.
    static func admits(descriptor: Int32, limit: UInt64) -> Bool {
        UInt64(clamping: descriptor) < limit - min(reserve, limit / 4)
    }

    fileprivate static var limit: UInt64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return UInt64(limit.rlim_cur)
    }
}

/// `accept4(2)` for libzmq, which finds it here before the C library's: Package.swift has it shown.
///
/// A connection too many is reported as one that the other side gave up, which libzmq passes over.
@_cdecl("accept4")
public func acceptWithinLimit(
    _ listener: Int32, _ address: UnsafeMutableRawPointer?, _ length: UnsafeMutableRawPointer?,
    _ flags: Int32
) -> Int32 {
    let descriptor = coffer_accept(listener, address, length, flags)
    if descriptor >= 0 {
        guard !ConnectionLimit.admits(descriptor: descriptor, limit: ConnectionLimit.limit) else {
            return descriptor
        }
        close(descriptor)
    } else if errno != EMFILE {
        return descriptor
    }
    ConnectionLimit.refused.add(1, ordering: .relaxed)
    errno = ECONNABORTED
    return -1
}
