/// Which boot of the machine a moment belongs to: the kernel's random boot id.
public struct BootID: Hashable, Sendable {
    /// The kernel's text form, a lower-case UUID.
    public let text: String

    public init(_ text: String) { self.text = text }
}

/// A moment on a clock that runs while the machine sleeps and starts anew at each boot.
///
/// Two moments are comparable only when they are of the same boot.
public struct BootMoment: Hashable, Sendable {
    public var bootID: BootID
    /// Nanoseconds since the boot, sleep included.
    public var nanoseconds: UInt64

    public init(bootID: BootID, nanoseconds: UInt64) {
        self.bootID = bootID
        self.nanoseconds = nanoseconds
    }

    /// Seconds since the boot, as the attempts record has them.
    public var seconds: Double { Double(nanoseconds) / 1e9 }
}

/// Where a service gets its time from.
///
/// Every deadline in Coffer is on this clock, so that setting the wall clock changes none.
public protocol BootClock: Sendable {
    var now: BootMoment { get }
}

/// A clock that stands still while the machine sleeps, for what a peer must do again and again.
public protocol AwakeClock: Sendable {
    /// Nanoseconds that the machine was awake since the boot.
    var awakeNanoseconds: UInt64 { get }
}

/// The wall clock, for log lines and dates shown to people; nothing is decided by it.
public protocol WallClock: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    var milliseconds: UInt64 { get }
}
