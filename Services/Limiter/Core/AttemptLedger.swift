public import Clocks
internal import LimiterMessages

/// What an owner's attempts come to: the record and the running number of the last charge.
///
/// All rules of counting are here, and no clock and no disk.
public struct AttemptLedger: Equatable, Sendable {
    /// What becomes of an attempt.
    public enum Verdict: Equatable, Sendable {
        /// It is counted and may be evaluated once the ledger is durable.
        case charged(UInt64)
        /// Somebody has seen a higher number: this ledger is an old copy, and now counts at least
        /// six and waits afresh.
        case rolledBack
        case coolingDown
        /// It was here before.
        case nonceSeen
        case numbersUsedUp
    }

    /// The count from which every attempt is followed by a wait.
    public static let lockingCount = 6

    public private(set) var record: AttemptsRecord
    /// Charges are numbered for ever within an enrolment.
    public private(set) var lastCharge: UInt64

    public init(record: AttemptsRecord, lastCharge: UInt64) {
        self.record = record
        self.lastCharge = lastCharge
    }

    /// The ledger of an owner who was enrolled just now.
    public init(enrolledAt now: BootMoment) {
        record = AttemptsRecord(count: 0, boot: now.bootID, deadline: 0)
        lastCharge = 0
    }

    /// The ledger that takes the place of one that cannot be relied on: six attempts and a fresh
    /// wait, or more attempts where that much can still be read.
    ///
    /// - Parameter record: nil where there is none.
    public init(repairing record: [UInt8]?, lastCharge: UInt64, at now: BootMoment) {
        let salvaged = record.flatMap(AttemptsRecord.salvagedCount) ?? 0
        let count = min(max(salvaged, Self.lockingCount), AttemptsRecord.countLimit)
        self.record = AttemptsRecord(count: count, boot: now.bootID, deadline: 0)
        self.lastCharge = lastCharge
        startWaiting(at: now)
    }

    /// The higher of two counts and of two numbers; the wait is this one's.
    public func raised(to other: AttemptLedger) -> AttemptLedger {
        var raised = self
        raised.record.count = max(record.count, other.record.count)
        raised.lastCharge = max(lastCharge, other.lastCharge)
        return raised
    }

    /// Takes notice of a reboot: a count of at least six waits afresh, and none is dropped.
    public mutating func meet(_ now: BootMoment) {
        guard record.boot != now.bootID else { return }
        record.boot = now.bootID
        setDeadline(at: now)
    }

    /// How long until an attempt is taken, in nanoseconds; the ledger has met the boot.
    ///
    /// It is exact while the machine is up for less than 2^52 ns, which is 52 days; beyond that a
    /// deadline in seconds is off by a few nanoseconds.
    public func remainingNanoseconds(at now: BootMoment) -> UInt64 {
        guard record.boot == now.bootID else { return 0 }
        let deadline = UInt64(exactly: (record.deadline * 1e9).rounded()) ?? .max
        return deadline > now.nanoseconds ? deadline - now.nanoseconds : 0
    }

    /// The same in milliseconds, rounded up.
    public func remainingMilliseconds(at now: BootMoment) -> UInt64 {
        let remaining = remainingNanoseconds(at: now)
        return min((remaining + 999_999) / 1_000_000, 60_000)
    }

    /// Decides an attempt and charges it where it is taken.
    ///
    /// - Parameters:
    ///   - lastSeen: the highest charge number that the caller has seen.
    ///   - nonceIsSeen: whether this very attempt was charged before.
    public mutating func begin(
        lastSeen: UInt64, nonceIsSeen: Bool, at now: BootMoment
    ) -> Verdict {
        meet(now)
        if lastSeen > lastCharge {
            lastCharge = min(lastSeen, Begin.chargeLimit)
            record.count = max(record.count, Self.lockingCount)
            startWaiting(at: now)
            return .rolledBack
        }
        guard remainingNanoseconds(at: now) == 0 else { return .coolingDown }
        guard !nonceIsSeen else { return .nonceSeen }
        guard lastCharge < Begin.chargeLimit else { return .numbersUsedUp }
        lastCharge += 1
        record.count = min(record.count + 1, AttemptsRecord.countLimit)
        setDeadline(at: now)
        return .charged(lastCharge)
    }

    /// Drops the charges up to one whose code was right, and the wait when fewer than six remain.
    ///
    /// - Returns: how many were dropped beside it.
    public mutating func confirm(charge: UInt64) -> UInt64 {
        guard charge <= lastCharge else { return 0 }
        let later = Int(clamping: lastCharge - charge)
        let kept = min(record.count, later)
        let dropped = record.count - kept
        record.count = kept
        if kept < Self.lockingCount { record.deadline = 0 }
        return UInt64(max(0, dropped - 1))
    }

    /// Drops all charges and the wait.
    public mutating func clear() {
        record.count = 0
        record.deadline = 0
    }

    private mutating func setDeadline(at now: BootMoment) {
        record.deadline = 0
        if record.count >= Self.lockingCount { startWaiting(at: now) }
    }

    private mutating func startWaiting(at now: BootMoment) {
        record.deadline = now.seconds + AttemptsRecord.cooldownSeconds
    }
}
