import Clocks
import TestKit

/// A calendar that is set now and then, up to ten years either way: nothing that is promised hangs
/// on it.
///
/// It has choices of its own, so that looking at it moves those of nobody else.
final class JumpingWallClock: WallClock, @unchecked Sendable {
    // Safe to send: a simulation has one thread.
    private let choices: SeededRandom
    private var now: UInt64 = 1_700_000_000_000
    /// How often it was set.
    private(set) var jumps = 0

    private static let tenYears = 10 * 365 * 24 * 3_600_000

    init(seed: UInt64) { choices = SeededRandom(seed: seed) }

    /// In milliseconds since 1970; every tenth look finds it set anew.
    var milliseconds: UInt64 {
        if choices.chance(percent: 10) {
            jumps += 1
            let jump = choices.number(in: -Self.tenYears...Self.tenYears)
            now = UInt64(max(0, Int(now) + jump))
        }
        return now
    }
}
