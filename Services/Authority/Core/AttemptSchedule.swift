internal import Wire

/// Which passcode checks run now and which wait: a pure value.
///
/// A check starts when a thread for its derivation is free and fewer than six checks of its owner
/// await their end, so that a limiter that answers late cannot be asked ever more. First come,
/// first served, past owners who have their six.
struct AttemptSchedule {
    /// How many checks there may be.
    struct Bounds: Equatable, Sendable {
        /// Derivations at a time.
        var threads: Int
        /// Checks of one owner that await their end.
        var perOwner = 6
        /// Checks that wait to start.
        var waiting = 256
        /// Of these, checks of one owner, so that one cannot keep the others out.
        var waitingPerOwner = 128
    }

    enum Verdict: Equatable {
        case start
        /// Started later, by this number.
        case wait(UInt64)
        case full
    }

    private let bounds: Bounds
    private var threadsFree: Int
    private var underWay: [Owner: Int] = [:]
    private var waiting: [(number: UInt64, owner: Owner)] = []
    private var lastNumber: UInt64 = 0

    init(_ bounds: Bounds) {
        self.bounds = bounds
        threadsFree = max(1, bounds.threads)
    }

    var waitingCount: Int { waiting.count }

    /// A check wants to start.
    mutating func ask(_ owner: Owner) -> Verdict {
        if mayStart(owner) {
            start(owner)
            return .start
        }
        let ofOwner = waiting.count { $0.owner == owner }
        guard waiting.count < bounds.waiting, ofOwner < bounds.waitingPerOwner else {
            return .full
        }
        lastNumber += 1
        waiting.append((lastNumber, owner))
        return .wait(lastNumber)
    }

    /// A check has done its derivation.
    ///
    /// - Returns: the waiting check that starts instead.
    mutating func freeThread() -> UInt64? {
        threadsFree += 1
        return startNext()
    }

    /// A check has come to its end.
    mutating func end(_ owner: Owner) -> UInt64? {
        underWay[owner, default: 1] -= 1
        if underWay[owner] == 0 { underWay[owner] = nil }
        return startNext()
    }

    private func mayStart(_ owner: Owner) -> Bool {
        threadsFree > 0 && underWay[owner, default: 0] < bounds.perOwner
    }

    private mutating func start(_ owner: Owner) {
        threadsFree -= 1
        underWay[owner, default: 0] += 1
    }

    private mutating func startNext() -> UInt64? {
        guard let index = waiting.firstIndex(where: { mayStart($0.owner) }) else { return nil }
        let next = waiting.remove(at: index)
        start(next.owner)
        return next.number
    }
}
