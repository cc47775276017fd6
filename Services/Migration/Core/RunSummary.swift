public import MigrationMessages

/// What a run leaves in the service's log: numbers by class, and nothing that names a wallet, a
/// source or a person.
public struct RunSummary: Equatable, Sendable {
    public enum Ending: Equatable, Sendable {
        case finished
        case stopped
        /// With the code of the error.
        case failed(code: String)
    }

    /// Whether it compared what was taken in before, and took nothing in.
    public var isVerification: Bool
    public var ending: Ending
    /// Wallets that it was about, that it did, and how they fared.
    public var total: UInt64
    public var done: UInt64
    public var succeeded: UInt64
    /// Of those, wallets that were taken in before and that the vault had no longer.
    public var again: UInt64
    public var failed: UInt64
    /// The whole source.
    public var counts: ClassCounts
    public var isSettled: Bool

    init(_ progress: RunProgress, isVerification: Bool) {
        self.isVerification = isVerification
        ending =
            switch progress.state {
            case .finished, .running: .finished
            case .stopped: .stopped
            case .failed(let code): .failed(code: code)
            }
        total = progress.total
        done = progress.done
        succeeded = progress.succeeded
        again = progress.again
        failed = progress.failed
        counts = progress.counts
        isSettled = progress.settled
    }
}
