internal import CZMQ
internal import Clocks
internal import Glibc
internal import Synchronization

/// A descriptor that becomes readable at a moment of the boot clock, also where the machine slept
/// until then; a timeout of `poll` stands still while it sleeps.
final class Alarm: Sendable {
    let descriptor: Int32
    private let deadline = Atomic<UInt64>(.max)

    init() throws(BusError) {
        descriptor = timerfd_create(
            CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        guard descriptor >= 0 else { throw .exhausted(code: errno) }
    }

    deinit { close(descriptor) }

    func set(for wanted: UInt64?, clock: any BootClock) {
        let wanted = wanted ?? .max
        guard deadline.exchange(wanted, ordering: .relaxed) != wanted else { return }
        var setting = itimerspec()
        if wanted != .max {
            let now = clock.now.nanoseconds
            // Zero would switch the timer off.
            let delay = wanted > now ? wanted - now : 1
            setting.it_value.tv_sec = Int(delay / 1_000_000_000)
            setting.it_value.tv_nsec = Int(delay % 1_000_000_000)
        }
        timerfd_settime(descriptor, 0, &setting, nil)
    }

    func silence() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        deadline.store(.max, ordering: .relaxed)
    }
}
