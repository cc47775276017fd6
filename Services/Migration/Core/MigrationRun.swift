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
    /// When it began, in seconds since 1970.
    let began: UInt64
    private var trouble: String?
    private var hasEnded = false
    private var done = 0
    private var succeeded = 0
    private var failed = 0
    private var failures: [RunProgress.Failure] = []
    private var failureBytes = 0
    private var left: ArraySlice<Int>
    private var sought: ArraySlice<Int>
    /// Those of them of which it is not known yet whether the vault has them.
    private var unsought: Int
    /// Wallets that are taken in again.
    private var missing: Set<Int> = []
    private var again = 0
    private var total: Int

    /// - Parameters:
    ///   - work: the places of the wallets that it is about.
    ///   - sought: those of wallets that the vault is asked for first; it is about the ones that
    ///     are not there, too.
    init(
        _ id: MigrationRunID, _ order: RunOrder, _ tally: RunTally, began: UInt64, work: [Int],
        sought: [Int] = []
    ) {
        self.id = id
        self.order = order
        self.tally = tally
        self.began = began
        left = work[...]
        self.sought = sought[...]
        unsought = sought.count
        total = work.count
    }

    // MARK: Going on

    /// The place of the next wallet; nil where there is no more, or it is to end.
    func next() -> Int? { isEnding ? nil : left.popFirst() }

    /// The place of the next wallet that the vault is asked for; nil as above.
    func nextSought() -> Int? { isEnding ? nil : sought.popFirst() }

    /// One that the vault was asked for is known, one way or the other.
    func endSeeking() { unsought -= 1 }

    /// The vault has the wallet.
    func find(at place: Int) { tally.settle(at: place) }

    /// The vault does not have the wallet; a run that takes wallets in takes it in again.
    func miss(at place: Int) {
        tally.settle(at: place, isMissing: true)
        guard order.aim == .apply else { return }
        missing.insert(place)
        left.append(place)
        total += 1
    }

    /// Whether the vault has the wallet could not be found out.
    func failToSeek(at place: Int, _ problem: WalletProblem, code: String?) {
        total += 1
        fail(at: place, problem, code: code)
    }

    func succeed(at place: Int) {
        done += 1
        succeeded += 1
        if missing.contains(place) { again += 1 }
        tally.settle(at: place)
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
        return done < total || unsought > 0 ? .stopped : .finished
    }

    /// What is told of it beside how far it is.
    var shown: AskMigrationStatus.Reply.Running {
        .init(
            run: id, isVerification: order.aim == .verify, network: order.network,
            path: order.path.text, began: began)
    }

    var progress: RunProgress {
        RunProgress(
            state: state, done: UInt64(done), total: UInt64(total),
            succeeded: UInt64(succeeded), again: UInt64(again), counts: tally.counts,
            settled: tally.verdict.done, failed: UInt64(failed), failures: failures)
    }
}
