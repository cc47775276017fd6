/// How often what goes wrong in a run; drawn anew for every seed, so that some runs are nearly calm
/// and some are nothing but trouble.
struct Mishaps: Sendable {
    /// Of ten thousand steps, those at which something breaks.
    var perTenThousand = 0
    /// Of ten thousand turns, those in whose commit the process is killed.
    var killInCommitPerTenThousand = 0
    /// Of a thousand messages, those that get lost.
    var lostPerThousand = 0
    /// Of a thousand messages, those that arrive twice.
    var repeatedPerThousand = 0
    /// How often time passes though there is something to do.
    var hastePercent = 0
    /// Simulated time of a key derivation.
    var kdfMilliseconds: UInt64 = 0

    static let none = Mishaps()
}

/// What was injected into a run.
public struct Injected: Sendable, Equatable {
    public internal(set) var kills = 0
    public internal(set) var killsInCommit = 0
    /// Processes that ended because their disk failed them.
    public internal(set) var diskEndings = 0
    public internal(set) var failedStarts = 0
    public internal(set) var boots = 0
    public internal(set) var tornDisks = 0
    public internal(set) var sleeps = 0
    public internal(set) var diskFaults = 0
    public internal(set) var lost = 0
    public internal(set) var repeated = 0

    public init() {}

    public mutating func add(_ other: Injected) {
        kills += other.kills
        killsInCommit += other.killsInCommit
        diskEndings += other.diskEndings
        failedStarts += other.failedStarts
        boots += other.boots
        tornDisks += other.tornDisks
        sleeps += other.sleeps
        diskFaults += other.diskFaults
        lost += other.lost
        repeated += other.repeated
    }
}

extension Injected {
    /// For people, a line each.
    public var lines: [String] {
        [
            "kills \(kills), in a commit \(killsInCommit), by a disk \(diskEndings)",
            "boots \(boots), torn disks \(tornDisks), sleeps \(sleeps)",
            "disk faults \(diskFaults), failed starts \(failedStarts)",
            "messages lost \(lost), repeated \(repeated)",
        ]
    }
}
