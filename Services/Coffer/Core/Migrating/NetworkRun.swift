internal import AuthorityMessages
internal import Clocks
internal import MigrationMessages
internal import Tokens
internal import VaultMessages
internal import Wire

/// What a run is for.
enum RunPurpose {
    case apply
    case verify

    /// As in "3 wallets taken in".
    var participle: String {
        switch self {
        case .apply: "taken in"
        case .verify: "verified"
        }
    }

    /// What follows "is needed to" where the passcode is asked for.
    var purpose: String {
        switch self {
        case .apply: "take wallets in"
        case .verify: "verify the wallets that were taken in"
        }
    }
}

/// Where the wallets of a network are.
struct NetworkPlace {
    let network: WalletNetwork
    let namespace: Namespace
}

/// A run of the migration over one network: begun, followed, stopped on a signal, and begun again
/// where its session ended before it did.
///
/// Signals are held while it goes on, and a passcode that it needs was typed before.
final class NetworkRun {
    private let run: CommandRun
    private let purpose: RunPurpose
    private let source: SourcePath
    /// One that was opened before, for the first run.
    private var session: OwnSession?
    private var outcome: NetworkOutcome
    private var line: ProgressLine
    /// Wallets that the first run over this network was about.
    private var wanted: UInt64 = 0
    /// Wallets that runs which ended early took in again.
    private var againBefore: UInt64 = 0
    /// Runs in a row that ended early without having done anything.
    private var vainRuns = 0
    private var isToldToStop = false

    /// How long between two questions, at first and at most, in milliseconds.
    private static let firstPause: UInt64 = 20
    private static let longestPause: UInt64 = 250
    /// How long a run may take to stop: the wallet that it is at is finished.
    private static let stopMilliseconds: UInt64 = 10_000
    /// How often in a row the service may leave a question unanswered.
    private static let silenceLimit = 4
    private static let silencePause: UInt64 = 500
    private static let vainLimit = 3

    init(
        _ purpose: RunPurpose, of run: CommandRun, source: SourcePath,
        place: NetworkPlace, session: OwnSession? = nil
    ) {
        self.purpose = purpose
        self.run = run
        self.source = source
        self.session = session
        outcome = NetworkOutcome(network: place.network, namespace: place.namespace)
        line = ProgressLine(to: run.parts.complaints, isSilent: run.wantsJSON)
    }

    /// Opens a session for the wallets of a network.
    static func open(
        _ place: NetworkPlace, _ purpose: RunPurpose, of run: CommandRun
    ) throws(CommandFailure) -> OwnSession {
        try run.verify(
            .resource(place.namespace), audience: [.walletVault, .migration],
            to: purpose.purpose)
    }

    /// - Throws: what ended it early. How far it came is noted.
    func carryOut() throws(CommandFailure) -> NetworkOutcome {
        defer { line.clear() }
        while true {
            let began = run.parts.clock.now.nanoseconds
            let succeededBefore = outcome.succeeded
            do throws(CommandFailure) {
                let progress = try follow(begin())
                switch progress.state {
                case .running, .finished: return outcome
                case .stopped: throw interrupted()
                case .failed(let code): throw Self.failure(code)
                }
            } catch {
                line.clear()
                againBefore = outcome.again
                let hasAdvanced = purpose == .apply && outcome.succeeded > succeededBefore
                vainRuns = hasAdvanced ? 0 : vainRuns + 1
                guard Self.isSurvivable(error), vainRuns < Self.vainLimit else {
                    throw told(error)
                }
                if try wasLocked(since: began) { throw told(locked) }
            }
        }
    }

    // MARK: One run

    private func begin() throws(CommandFailure) -> MigrationRunID {
        try refuseInterrupted()
        let token = try token()
        try refuseInterrupted()
        let caller = try run.caller()
        switch purpose {
        case .verify:
            let request = VerifyMigration(
                source: source, network: outcome.network, namespace: outcome.namespace)
            return try caller.call(request, token: token).reply.run
        case .apply:
            let request = ApplyMigration(
                source: source, network: outcome.network, namespace: outcome.namespace,
                again: true)
            let changed = try caller.change(
                request, key: caller.newKey(), token: token)
            if case .answered(let begun) = changed { return begun.run }
            // It was begun, and the answer is lost: where it still goes on, the service names it.
            guard let running = try caller.call(AskMigrationStatus()).reply.running else {
                throw CommandFailure(MigrationFault.noSuchRun.refusal, kind: .read)
            }
            return running.run
        }
    }

    /// Of the session that was opened before, once; then of new ones.
    private func token() throws(CommandFailure) -> [UInt8] {
        if let session {
            self.session = nil
            return session.token
        }
        let place = NetworkPlace(network: outcome.network, namespace: outcome.namespace)
        return try Self.open(place, purpose, of: run).token
    }

    /// Asks how far the run is until it is over.
    private func follow(_ id: MigrationRunID) throws(CommandFailure) -> RunProgress {
        let caller = try run.caller()
        run.parts.noteOpen(.standing(leftBehind))
        var pause = Self.firstPause
        var silences = 0
        var stopEnds: UInt64?
        while true {
            if stopEnds == nil, run.parts.signals.came() {
                _ = try? caller.call(StopRun(run: id))
                stopEnds = run.parts.clock.now.nanoseconds + Self.stopMilliseconds * 1_000_000
                isToldToStop = true
            }
            do throws(CommandFailure) {
                let progress = try caller.call(FollowRun(run: id)).reply
                silences = 0
                show(progress)
                guard progress.state == .running else { return progress }
            } catch {
                guard error.exitCode == .unreachable, silences < Self.silenceLimit else {
                    throw error
                }
                silences += 1
                pause = Self.silencePause
            }
            if let stopEnds, run.parts.clock.now.nanoseconds >= stopEnds { throw stillRunning() }
            run.parts.waitMilliseconds(pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func show(_ progress: RunProgress) {
        guard progress.total > 0 || progress.state != .running else { return }
        note(progress)
        guard outcome.total > 0 else { return }
        let done = outcome.total - min(outcome.total, progress.total) + progress.done
        var text = "\(outcome.network.title): \(done) of "
        text += ShownText.count(outcome.total, "wallet", "wallets")
        if progress.failed > 0 { text += ", \(progress.failed) failed" }
        line.show(text, done: done, of: outcome.total)
    }

    /// Takes over what a run says of itself.
    ///
    /// One that goes on where another ended is about the rest alone.
    private func note(_ progress: RunProgress) {
        wanted = max(wanted, progress.total)
        outcome.total = wanted
        outcome.succeeded = wanted - progress.total + progress.succeeded
        outcome.again = againBefore + progress.again
        outcome.failed = progress.failed
        outcome.failures = progress.failures
    }

    // MARK: Beginning again

    /// Whether another run may get further: the session of this one ended before it did, or the
    /// service was started anew.
    private static func isSurvivable(_ failure: CommandFailure) -> Bool {
        failure.meansSessionIsOver || failure.code == MigrationFault.noSuchRun.rawValue
    }

    /// Whether a person locked the owner, who then wants it locked.
    ///
    /// An authority that was started anew has locked everybody, and that is nobody's wish.
    private func wasLocked(since began: UInt64) throws(CommandFailure) -> Bool {
        let caller = try run.caller()
        guard try !caller.call(AskStatus()).reply.unlocked else { return false }
        let elapsed = (run.parts.clock.now.nanoseconds - began) / 1_000_000
        return try caller.health(Authority.self).upMilliseconds > elapsed
    }

    // MARK: Ending early

    private func refuseInterrupted() throws(CommandFailure) {
        if run.parts.signals.came() { throw interrupted() }
    }

    private func interrupted() -> CommandFailure {
        let cause =
            switch (run.parts.signals.came(), isToldToStop) {
            case (true, true): "The command was interrupted, and the run is stopped."
            case (true, false): "The command was interrupted."
            case (false, _): "Another command stopped the run."
            }
        return CommandFailure(.interrupted, "\(cause) \(resumption)")
    }

    private func stillRunning() -> CommandFailure {
        CommandFailure(
            .interrupted,
            "The command was interrupted. The run was told to stop and has not said that it did: "
                + "`coffer migrate status` shows it. \(resumption)")
    }

    private var locked: CommandFailure {
        var refusal = CredentialFault.locked.refusal
        refusal.message = "The owner was locked while the run went on. \(resumption)"
        return CommandFailure(refusal, kind: .change)
    }

    /// What a second signal says, which waits for nothing.
    private var leftBehind: String {
        "The run may go on in the service: `coffer migrate status` tells. \(resumption)"
    }

    private var resumption: String {
        switch purpose {
        case .apply: "`coffer migrate apply` goes on from here; nothing is taken in twice."
        case .verify: "`coffer migrate verify` begins again."
        }
    }

    /// Notes how far it came, and says what to do where that is not plain.
    private func told(_ failure: CommandFailure) -> CommandFailure {
        var failure = failure
        if outcome.total > 0 { run.note(outcome.sentence(purpose)) }
        if failure.code == MigrationFault.busy.rawValue {
            failure.refusal.message =
                "A run of this owner is under way. `coffer migrate status` shows how far it is, "
                + "`coffer migrate stop` stops it."
        }
        // What was taken in stays: it is not true that nothing happened.
        if purpose == .apply, outcome.succeeded > 0 { failure.refusal.outcome = .unknown }
        return failure
    }

    /// Why a run could not go on.
    private static func failure(_ code: String) -> CommandFailure {
        guard let meaning = KnownServices.meaning(of: code) else {
            var refusal = BusFault.badReply.refusal
            refusal.message = "The run could not go on: \(ShownText.printable(code))."
            return CommandFailure(refusal, kind: .change)
        }
        return CommandFailure(
            Refusal(code: code, message: meaning, outcome: .rejected), kind: .change)
    }
}
