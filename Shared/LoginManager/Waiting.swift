internal import CSystemd
internal import Glibc

/// One descriptor that is readable when a connection has something to do: to read, to write, or
/// because a time of its own is over.
final class Waiting {
    let descriptor: Int32
    private let timer: Int32
    private let bus: BusConnection
    private var events: Int32 = 0

    init(for bus: BusConnection) throws(LoginManagerError) {
        self.bus = bus
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        guard descriptor >= 0, timer >= 0, control(EPOLL_CTL_ADD, timer, POLLIN),
            control(EPOLL_CTL_ADD, bus.descriptor, 0)
        else { throw .noBus(code: errno) }
    }

    deinit {
        close(descriptor)
        close(timer)
    }

    /// Sets what is waited for from now on.
    func rest() throws(LoginManagerError) {
        var count: UInt64 = 0
        _ = read(timer, &count, MemoryLayout<UInt64>.size)
        var setting = itimerspec()
        if let deadline = bus.deadline {
            // Zero would switch the timer off.
            setting.it_value.tv_sec = Int(deadline / 1_000_000)
            setting.it_value.tv_nsec = max(1, Int(deadline % 1_000_000) * 1_000)
        }
        timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &setting, nil)
        let wanted = bus.events
        guard wanted != events else { return }
        guard wanted >= 0, control(EPOLL_CTL_MOD, bus.descriptor, wanted) else {
            throw .noBus(code: errno)
        }
        events = wanted
    }

    /// The numbers of `poll` are those of `epoll`.
    private func control(_ operation: Int32, _ watched: Int32, _ events: Int32) -> Bool {
        var event = epoll_event()
        event.events = UInt32(bitPattern: events)
        event.data.fd = watched
        return epoll_ctl(descriptor, operation, watched, &event) == 0
    }
}
