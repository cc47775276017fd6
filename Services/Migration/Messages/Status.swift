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
        /// The run under way.
        public var running: MigrationRunID?

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

        public init(
            sources: [Source], mainnet: UInt64, testnet: UInt64, running: MigrationRunID?
        ) {
            self.sources = sources
            self.mainnet = mainnet
            self.testnet = testnet
            self.running = running
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["sources", "mainnet", "testnet", "running"])
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
            running = try object.optionalIdentifier("running")
        }

        public func write(to writer: inout JSONWriter) {
            writer.objects("sources", sources) { writer, source in
                writer.hex("digest", source.digest)
                writer.string("path", source.path)
                writer.bool("done", source.done)
                writer.bool("deferred_unknown_chain", source.deferredUnknownChain)
                writer.bool("deferred_failure", source.deferredFailure)
                writer.bool("set_aside", source.setAside)
                writer.uint64("last_run", source.lastRun)
                writer.object("counts") { source.counts.write(to: &$0) }
            }
            writer.uint64("mainnet", mainnet)
            writer.uint64("testnet", testnet)
            writer.optionalIdentifier("running", running)
        }
    }
}
