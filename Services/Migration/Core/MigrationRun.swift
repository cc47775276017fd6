internal import Loop
internal import MigrationMessages
internal import VaultMessages
internal import Wire

/// What a run is to do.
struct RunOrder: Sendable {
    enum Aim: Sendable {
        /// Take wallets in.
        case apply
        /// Look whether those that were taken in are what they are to be.
        case verify
    }

    let aim: Aim
    let owner: Owner
    let path: SourcePath
    let network: WalletNetwork
    let namespace: Namespace
}

/// A run over a source, as far as it has come.
@ServiceLoop
final class MigrationRun {
    /// Text of failures that is kept, in bytes; ids are foreign and may be long.
    private nonisolated static let failureBytesMax = 32_768

    let id: MigrationRunID
    let order: RunOrder
    /// What is known of the source's wallets as of now.
    private(set) var tally: RunTally
    /// Told to stop, by a person or by a trouble.
    private(set) var isEnding = false
    /// How many wallets can be worked on at a time, as of now.
    var lanes = 0
    private var trouble: String?
    private var hasEnded = false
    private var done = 0
    private var succeeded = 0
    private var failed = 0
    private var failures: [RunProgress.Failure] = []
    private var failureBytes = 0
    private var left: ArraySlice<Int>
    private let total: Int

    /// - Parameter work: the places of the wallets that it is about.
    init(_ id: MigrationRunID, _ order: RunOrder, _ tally: RunTally, work: [Int]) {
        self.id = id
        self.order = order
        self.tally = tally
        left = work[...]
        total = work.count
    }

    // MARK: Going on

    /// The place of the next wallet; nil where there is no more, or it is to end.
    func next() -> Int? { isEnding ? nil : left.popFirst() }

    func succeed(at place: Int) {
        done += 1
        succeeded += 1
        if order.aim == .apply { tally.settle(at: place) }
    }

    func fail(at place: Int, _ problem: WalletProblem, code: String? = nil) {
        done += 1
        failed += 1
        if order.aim == .apply { tally.fail(at: place) }
        let id = tally.wallets.id(at: place).text
        failureBytes += JSONWriter.bytes(of: id)
        guard failures.count < RunProgress.failureLimit, failureBytes <= Self.failureBytesMax
        else { return }
        failures.append(RunProgress.Failure(id: id, problem: problem, code: code))
    }

    // MARK: Ending

    func stop() { isEnding = true }

    /// Ends it because it cannot go on; the first code is the one that is told.
    func stop(for code: String) {
        isEnding = true
        trouble = trouble ?? code
    }

    /// Nothing of it is under way any longer.
    func end() { hasEnded = true }

    var isRunning: Bool { !hasEnded }

    var state: RunProgress.State {
        guard hasEnded else { return .running }
        if let trouble { return .failed(code: trouble) }
        return done < total ? .stopped : .finished
    }

    var progress: RunProgress {
        RunProgress(
            state: state, done: UInt64(done), total: UInt64(total),
            succeeded: UInt64(succeeded), counts: tally.counts, settled: tally.verdict.done,
            failed: UInt64(failed), failures: failures)
    }
}
