internal import Tokens

/// How well the authority's events are heard.
///
/// They say which sessions ended, so they can be relied on only while none was missed: a gap in the
/// numbers, two seconds of silence, an event that cannot be read or a new run of the authority
/// means that something may have been.
struct AuthorityNews: Equatable, Sendable {
    /// Events come at least every second; so long, in nanoseconds, is too long.
    static let silenceLimit: UInt64 = 2_000_000_000

    /// What the arrival of an event says of those before it.
    enum Continuity: Equatable, Sendable {
        /// Nothing was missed.
        case unbroken
        /// Something may have been missed.
        case broken
        /// The authority began anew; every session of before is over.
        case newRun
    }

    /// The run that the last event was of.
    private(set) var run: RunID?
    private var number: UInt64 = 0
    private var heard: UInt64?

    /// Takes in an event.
    ///
    /// - Parameter now: nanoseconds on the boot clock.
    mutating func hear(run: RunID, number: UInt64, at now: UInt64) -> Continuity {
        defer {
            self.run = run
            self.number = number
            heard = now
        }
        if let before = self.run, before != run { return .newRun }
        return isCurrent(at: now) && number == self.number &+ 1 ? .unbroken : .broken
    }

    /// Takes note of an event that cannot be read.
    mutating func lose() { heard = nil }

    /// Whether nothing was missed so far.
    func isCurrent(at now: UInt64) -> Bool {
        guard let heard else { return false }
        return now &- heard < Self.silenceLimit
    }
}
