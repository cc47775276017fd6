import Clocks
import PropertyLists
import Synchronization
import TestKit

@testable import MigrationCore

extension SourceReading {
    /// The index of a file, read through by somebody who waits for ever.
    static func index(_ file: FileSource) throws(ReadingTrouble) -> SourceIndex {
        let reading = try SourceReading(
            file, ReadingLeave(clock: FakeBootClock(), deadline: .max))
        while true {
            if let index = try reading.advance() { return index }
        }
    }
}

/// A clock that goes on by a nanosecond whenever somebody looks at it.
final class TickingClock: BootClock {
    private let clock = FakeBootClock()
    private let looks = Mutex<UInt64>(0)

    var lookCount: UInt64 { looks.withLock { $0 } }

    var now: BootMoment {
        let count = looks.withLock { looks in
            looks += 1
            return looks
        }
        return BootMoment(bootID: clock.now.bootID, nanoseconds: count)
    }
}
