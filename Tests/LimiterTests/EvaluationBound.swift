import LimiterMessages

/// What must hold of one device secret, whoever calls and whatever fails.
struct EvaluationBound {
    enum Violation: Equatable {
        /// A seventh evaluation, or a later one, less than 60 s after the one before.
        case tooMany
        /// One begin was evaluated twice.
        case evaluatedTwice
        /// Charges were dropped without a signature of the owner's key over this very act.
        case loweredUnsigned
        /// Charges were dropped by an attempt that was over.
        case loweredLate
        /// The count is lower than the evaluations that stand.
        case countTooLow
    }

    /// Evaluations that left the limiter since the count was last lowered: number and moment in
    /// milliseconds of true time, which runs through reboots.
    private var standing: [(charge: UInt64, at: Int)] = []
    private var evaluated: Set<[UInt8]> = []
    private var hasGoneBack = false
    private(set) var violation: Violation?
    /// The highest charge number that left the limiter.
    private(set) var lastCharge: UInt64 = 0

    mutating func evaluation(charge: UInt64, nonce: [UInt8], at now: Int) {
        if standing.count >= 6, let last = standing.map(\.at).max(), now - last < 60_000 {
            note(.tooMany)
        }
        if !evaluated.insert(nonce).inserted { note(.evaluatedTwice) }
        standing.append((charge, now))
        lastCharge = max(lastCharge, charge)
    }

    mutating func lowered(through charge: UInt64) { standing.removeAll { $0.charge <= charge } }

    mutating func cleared() { standing = [] }

    mutating func count(is failed: UInt64) {
        // Beyond six an older copy cannot know how many there were, and need not: each waits.
        let wanted = hasGoneBack ? min(6, standing.count) : standing.count
        if failed < UInt64(wanted) { note(.countTooLow) }
    }

    /// An older copy of the store does not know the nonces that came after it.
    mutating func storeWentBack() {
        evaluated = []
        hasGoneBack = true
    }

    mutating func note(_ found: Violation) { if violation == nil { violation = found } }
}
