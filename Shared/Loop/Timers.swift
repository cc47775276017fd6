public import Clocks

/// The sleepers of the loop.
///
/// Whoever drains the loop also tells it that time has passed, so a test or a simulation can be
/// that person.
@ServiceLoop
public final class Timers {
    private struct Sleeper {
        let deadline: UInt64
        let order: UInt64
        let wake: CheckedContinuation<Void, Never>
    }

    private let clock: any BootClock
    private var sleepers: [Sleeper] = []
    private var nextOrder: UInt64 = 0

    public init(clock: any BootClock) { self.clock = clock }

    /// Suspends the caller until the clock has passed a moment of this boot.
    ///
    /// - Parameter deadline: nanoseconds on the boot clock; one that has passed still yields.
    public func sleep(until deadline: UInt64) async {
        await withCheckedContinuation { continuation in
            let sleeper = Sleeper(deadline: deadline, order: nextOrder, wake: continuation)
            nextOrder += 1
            let place = sleepers.firstIndex { $0.deadline > deadline } ?? sleepers.endIndex
            sleepers.insert(sleeper, at: place)
        }
    }

    /// Suspends the caller for some time from now.
    public func sleep(milliseconds: UInt64) async {
        await sleep(until: clock.now.nanoseconds + milliseconds * 1_000_000)
    }

    /// When the next sleeper wants to be woken, in nanoseconds on the boot clock.
    public var nextDeadline: UInt64? { sleepers.first?.deadline }

    /// Wakes those whose time has come.
    public func fire() {
        let now = clock.now.nanoseconds
        let due = sleepers.prefix { $0.deadline <= now }.count
        guard due > 0 else { return }
        let woken = sleepers.prefix(due)
        sleepers.removeFirst(due)
        for sleeper in woken { sleeper.wake.resume() }
    }
}
