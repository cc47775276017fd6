internal import CZMQ
internal import Glibc
internal import Synchronization

/// A descriptor that becomes readable when somebody rings, from any thread or signal handler.
final class Bell: Sendable {
    let descriptor: Int32

    init() throws(BusError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .exhausted(code: errno) }
    }

    deinit { close(descriptor) }

    func ring() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func silence() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
