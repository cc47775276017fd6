public import VaultMessages
public import Wire

/// What was migrated so far.
public struct AskMigrationStatus: BodilessRequest, Equatable {
    public static var method: String { "migration.status" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }

    public init() {}

    public struct Reply: Message, Equatable {
        /// Those that runs were over, the last one first; at most ``sourceLimit``.
        public var sources: [Source]
        /// Wallets that were taken in, of every source.
        public var mainnet: UInt64
        public var testnet: UInt64
        /// Of those, wallets that the vault did not have when they were looked for last.
        public var missing: UInt64
        /// The run under way.
        public var running: Running?

        public static let sourceLimit = 50

        /// How a source stands.
        public struct Source: Equatable, Sendable {
            /// SHA-256 of the source.
            public var digest: [UInt8]
            public var path: String
            /// Whether every wallet of it is settled.
            public var done: Bool
            public var deferredUnknownChain: Bool
            public var deferredFailure: Bool
            /// Whether a person said that what is not settled of it stays where it is.
            public var setAside: Bool
            /// When it was run over last, in seconds since 1970.
            public var lastRun: UInt64
            /// As the last run left it.
            public var counts: ClassCounts

            public init(
                digest: [UInt8], path: String, done: Bool, deferredUnknownChain: Bool,
                deferredFailure: Bool, setAside: Bool = false, lastRun: UInt64, counts: ClassCounts
            ) {
                self.digest = digest
                self.path = path
                self.done = done
                self.deferredUnknownChain = deferredUnknownChain
                self.deferredFailure = deferredFailure
                self.setAside = setAside
                self.lastRun = lastRun
                self.counts = counts
            }
        }

        /// A run under way.
        public struct Running: Equatable, Sendable {
            public var run: MigrationRunID
            /// Whether it compares what was taken in, and takes nothing in.
            public var isVerification: Bool
            public var network: WalletNetwork
            public var path: String
            /// When it began, in seconds since 1970.
            public var began: UInt64

            public init(
                run: MigrationRunID, isVerification: Bool, network: WalletNetwork, path: String,
                began: UInt64
            ) {
                self.run = run
                self.isVerification = isVerification
                self.network = network
                self.path = path
                self.began = began
            }
        }

        public init(
            sources: [Source], mainnet: UInt64, testnet: UInt64, missing: UInt64 = 0,
            running: Running?
        ) {
            self.sources = sources
            self.mainnet = mainnet
            self.testnet = testnet
            self.missing = missing
            self.running = running
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["sources", "mainnet", "testnet", "missing", "running"])
            sources = []
            for entry in try object.objects("sources") {
                try entry.refuseUnknownKeys([
                    "digest", "path", "done", "deferred_unknown_chain", "deferred_failure",
                    "set_aside", "last_run", "counts",
                ])
                sources.append(
                    Source(
                        digest: try entry.hex("digest", count: 32),
                        path: try entry.string("path"), done: try entry.bool("done"),
                        deferredUnknownChain: try entry.bool("deferred_unknown_chain"),
                        deferredFailure: try entry.bool("deferred_failure"),
                        setAside: try entry.bool("set_aside"),
                        lastRun: try entry.uint64("last_run"),
                        counts: try ClassCounts(from: entry.object("counts"))))
            }
            mainnet = try object.uint64("mainnet")
            testnet = try object.uint64("testnet")
            missing = try object.uint64("missing")
            running = try object.optionalObject("running").map { (object) throws(JSONError) in
                try Running(from: object)
            }
        }

        public func write(to writer: inout JSONWriter) {
            writer.objects("sources", sources) { writer, source in source.write(to: &writer) }
            writer.uint64("mainnet", mainnet)
            writer.uint64("testnet", testnet)
            writer.uint64("missing", missing)
            if let running { writer.object("running") { running.write(to: &$0) } }
        }
    }
}

extension AskMigrationStatus.Reply.Source {
    public func write(to writer: inout JSONWriter) {
        writer.hex("digest", digest)
        writer.string("path", path)
        writer.bool("done", done)
        writer.bool("deferred_unknown_chain", deferredUnknownChain)
        writer.bool("deferred_failure", deferredFailure)
        writer.bool("set_aside", setAside)
        writer.uint64("last_run", lastRun)
        writer.object("counts") { counts.write(to: &$0) }
    }
}

extension AskMigrationStatus.Reply.Running {
    init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["run", "aim", "network", "path", "began"])
        run = try object.identifier("run")
        switch try object.string("aim") {
        case "apply": isVerification = false
        case "verify": isVerification = true
        default: throw .invalid("aim")
        }
        network = try object.identifier("network")
        path = try object.string("path")
        began = try object.uint64("began")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("run", run)
        writer.string("aim", isVerification ? "verify" : "apply")
        writer.identifier("network", network)
        writer.string("path", path)
        writer.uint64("began", began)
    }
}
