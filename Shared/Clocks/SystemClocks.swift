internal import Glibc

/// CLOCK_BOOTTIME and the boot id of the running kernel.
public struct SystemBootClock: BootClock {
    private let bootID: BootID

    /// Reads the kernel's boot id once; nil where `/proc` does not tell it.
    public init?() {
        guard let text = Self.readBootID() else { return nil }
        bootID = BootID(text)
    }

    public var now: BootMoment {
        BootMoment(bootID: bootID, nanoseconds: readClock(CLOCK_BOOTTIME))
    }

    private static func readBootID() -> String? {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 36 else { return nil }
        let text = String(decoding: bytes[0..<36], as: UTF8.self)
        return text.utf8.allSatisfy({ $0 == 0x2D || isHexDigit($0) }) ? text : nil
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}

/// CLOCK_MONOTONIC, which on Linux does not count the time of sleep.
public struct SystemAwakeClock: AwakeClock {
    public init() {}

    public var awakeNanoseconds: UInt64 { readClock(CLOCK_MONOTONIC) }
}

/// CLOCK_REALTIME.
public struct SystemWallClock: WallClock {
    public init() {}

    public var milliseconds: UInt64 { readClock(CLOCK_REALTIME) / 1_000_000 }
}

/// A clock that cannot be read is a broken kernel, and no deadline could be kept on it.
private func readClock(_ id: clockid_t) -> UInt64 {
    var time = timespec()
    precondition(clock_gettime(id, &time) == 0, "the kernel has no such clock")
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
