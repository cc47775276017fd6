public import Clocks
internal import Synchronization

/// A boot clock that stands still until a test moves it, and the awake clock beside it.
public final class FakeBootClock: BootClock, AwakeClock {
    private struct State {
        var boot: UInt64 = 1
        var bootID = FakeBootClock.bootID(1)
        var nanoseconds: UInt64
        /// Of these, how many the machine slept.
        var slept: UInt64 = 0
    }

    private let state: Mutex<State>

    /// - Parameter nanoseconds: how long the machine has been up at the beginning.
    public init(nanoseconds: UInt64 = 100_000_000_000) {
        state = Mutex(State(nanoseconds: nanoseconds))
    }

    public var now: BootMoment {
        state.withLock {
            BootMoment(bootID: $0.bootID, nanoseconds: $0.nanoseconds)
        }
    }

    public var awakeNanoseconds: UInt64 { state.withLock { $0.nanoseconds - $0.slept } }

    /// Lets the machine sleep: the boot clock goes on, the awake one does not.
    public func sleepMachine(seconds: UInt64) {
        state.withLock {
            $0.nanoseconds += seconds * 1_000_000_000
            $0.slept += seconds * 1_000_000_000
        }
    }

    public func advance(nanoseconds: UInt64) {
        state.withLock { $0.nanoseconds += nanoseconds }
    }

    public func advance(milliseconds: UInt64) { advance(nanoseconds: milliseconds * 1_000_000) }

    public func advance(seconds: UInt64) { advance(nanoseconds: seconds * 1_000_000_000) }

    /// Starts the machine anew: another boot id, and a clock that begins again.
    public func reboot(nanoseconds: UInt64 = 5_000_000_000) {
        state.withLock {
            $0.boot += 1
            $0.bootID = Self.bootID($0.boot)
            $0.nanoseconds = nanoseconds
            $0.slept = 0
        }
    }

    /// In the kernel's text form.
    private static func bootID(_ number: UInt64) -> BootID {
        let digits = String(number)
        let padding = String(repeating: "0", count: max(0, 12 - digits.count))
        return BootID("00000000-0000-4000-8000-\(padding)\(digits)")
    }
}
