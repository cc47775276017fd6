public import VaultMessages
public import Wire

/// Begins to take a source's wallets of one network into a namespace of the vault.
///
/// Takes a resource session with the vault and migration in its audience. The run goes on by
/// itself; ``FollowRun`` tells how far it is. What was taken in stands in the ledger and is not
/// taken in twice, so a run that was stopped, or whose session ended, is simply begun again.
public struct ApplyMigration: RunRequest, Equatable {
    public static var method: String { "migration.apply" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var source: SourcePath
    public var network: WalletNetwork
    public var namespace: Namespace
    /// Whether the vault is asked for every wallet that was taken into the namespace before, and
    /// those that it no longer has are taken in again.
    ///
    /// For a person's wish: without it a wallet that a person removed stays removed, however often
    /// an app applies. With it a source that is done is looked at all the same.
    public var again: Bool

    public init(
        source: SourcePath, network: WalletNetwork, namespace: Namespace, again: Bool = false
    ) {
        self.source = source
        self.network = network
        self.namespace = namespace
        self.again = again
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["source", "network", "namespace", "again"])
        source = try object.identifier("source")
        network = try object.identifier("network")
        namespace = try object.identifier("namespace")
        again = try object.optionalBool("again") ?? false
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("source", source)
        writer.identifier("network", network)
        writer.identifier("namespace", namespace)
        writer.bool("again", again)
    }

    public typealias Reply = RunBegun
}

/// Begins to verify what was taken in: the vault opens every wallet that the ledger has of a source
/// and network, and its identity is derived once more from the source and compared.
///
/// A wallet that came into the vault anew under another name is found by its identity, and one that
/// is not there is noted as missing. Takes what ``ApplyMigration`` takes.
public struct VerifyMigration: RunRequest, Equatable {
    public static var method: String { "migration.verify" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var source: SourcePath
    public var network: WalletNetwork
    public var namespace: Namespace

    public init(source: SourcePath, network: WalletNetwork, namespace: Namespace) {
        self.source = source
        self.network = network
        self.namespace = namespace
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["source", "network", "namespace"])
        source = try object.identifier("source")
        network = try object.identifier("network")
        namespace = try object.identifier("namespace")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("source", source)
        writer.identifier("network", network)
        writer.identifier("namespace", namespace)
    }

    public typealias Reply = RunBegun
}

/// A request that begins a run.
public protocol RunRequest: Request {
    var source: SourcePath { get }
    var network: WalletNetwork { get }
    var namespace: Namespace { get }
}

/// The run that was begun.
public struct RunBegun: Message, Equatable {
    public var run: MigrationRunID

    public init(run: MigrationRunID) { self.run = run }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["run"])
        run = try object.identifier("run")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("run", run) }
}

/// How far a run is; the last run of an owner can be asked for until the service stops.
public struct FollowRun: Request, Equatable {
    public static var method: String { "migration.follow" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }

    public var run: MigrationRunID

    public init(run: MigrationRunID) { self.run = run }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["run"])
        run = try object.identifier("run")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("run", run) }

    public typealias Reply = RunProgress
}

/// Stops a run after the wallet that it is at; nothing is lost.
public struct StopRun: Request, Equatable {
    public static var method: String { "migration.stop" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }

    public var run: MigrationRunID

    public init(run: MigrationRunID) { self.run = run }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["run"])
        run = try object.identifier("run")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("run", run) }

    public typealias Reply = Empty
}

/// How far a run is.
public struct RunProgress: Message, Equatable {
    public enum State: Equatable, Sendable {
        case running
        /// Every wallet was looked at.
        case finished
        /// It was told to stop.
        case stopped
        /// It could not go on; the code of an error.
        case failed(code: String)
    }

    public var state: State
    /// Wallets that were done in this run, well or not.
    public var done: UInt64
    /// Wallets that the run is about.
    public var total: UInt64
    /// Wallets that this run took in, or verified.
    public var succeeded: UInt64
    /// Of those that it took in, wallets that were taken in before and that the vault had no
    /// longer.
    public var again: UInt64
    /// The whole source, as it stood when the run looked last.
    public var counts: ClassCounts
    /// Whether every wallet of the source is settled.
    public var settled: Bool
    /// How many wallets failed.
    public var failed: UInt64
    /// The first of those that failed, at most ``failureLimit``.
    public var failures: [Failure]

    public static let failureLimit = 100

    /// A wallet that could not be taken in, or does not verify.
    public struct Failure: Equatable, Sendable {
        /// As the app named it.
        public var id: String
        public var problem: WalletProblem
        /// The code of the vault's refusal, where it is one.
        public var code: String?

        public init(id: String, problem: WalletProblem, code: String? = nil) {
            self.id = id
            self.problem = problem
            self.code = code
        }
    }

    public init(
        state: State, done: UInt64, total: UInt64, succeeded: UInt64, again: UInt64 = 0,
        counts: ClassCounts, settled: Bool, failed: UInt64, failures: [Failure]
    ) {
        self.state = state
        self.done = done
        self.total = total
        self.succeeded = succeeded
        self.again = again
        self.counts = counts
        self.settled = settled
        self.failed = failed
        self.failures = failures
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([
            "state", "code", "done", "total", "succeeded", "again", "counts", "settled",
            "failed", "failures",
        ])
        let code = try object.optionalString("code")
        switch (try object.string("state"), code) {
        case ("running", nil): state = .running
        case ("finished", nil): state = .finished
        case ("stopped", nil): state = .stopped
        case ("failed", .some(let code)): state = .failed(code: code)
        default: throw .invalid("state")
        }
        done = try object.uint64("done")
        total = try object.uint64("total")
        succeeded = try object.uint64("succeeded")
        again = try object.uint64("again")
        counts = try ClassCounts(from: object.object("counts"))
        settled = try object.bool("settled")
        failed = try object.uint64("failed")
        failures = []
        for entry in try object.objects("failures") {
            try entry.refuseUnknownKeys(["id", "problem", "code"])
            failures.append(
                Failure(
                    id: try entry.string("id"), problem: try entry.identifier("problem"),
                    code: try entry.optionalString("code")))
        }
    }

    public func write(to writer: inout JSONWriter) {
        switch state {
        case .running: writer.string("state", "running")
        case .finished: writer.string("state", "finished")
        case .stopped: writer.string("state", "stopped")
        case .failed(let code):
            writer.string("state", "failed")
            writer.string("code", code)
        }
        writer.uint64("done", done)
        writer.uint64("total", total)
        writer.uint64("succeeded", succeeded)
        writer.uint64("again", again)
        writer.object("counts") { counts.write(to: &$0) }
        writer.bool("settled", settled)
        writer.uint64("failed", failed)
        writer.objects("failures", failures) { writer, failure in
            writer.string("id", failure.id)
            writer.identifier("problem", failure.problem)
            writer.optionalString("code", failure.code)
        }
    }
}

/// Why a wallet could not be taken in, or does not verify.
public enum WalletProblem: String, TextIdentifier, CaseIterable {
    /// The source has no phrase under its account.
    case phraseMissing = "phrase_missing"
    /// What stands there is no phrase.
    case phraseInvalid = "phrase_invalid"
    /// The phrase is of another wallet than the account says.
    case otherWallet = "other_wallet"
    /// Two derivations of the same phrase differ: the machine cannot be relied on.
    case derivationsDiffer = "derivations_differ"
    /// The vault did not take it in, or does not open it.
    case vaultRefused = "vault_refused"
    /// The vault has another identity than the source leads to.
    case identityDiffers = "identity_differs"

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}
