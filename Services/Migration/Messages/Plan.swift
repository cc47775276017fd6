public import VaultMessages
public import Wire

/// What a source holds and what would become of it; nothing is changed and no phrase is read.
public struct PlanMigration: Request, Equatable {
    public static var method: String { "migration.plan" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }

    public static let pageLimit = 500

    public var source: SourcePath
    /// The id of the last wallet of the page before; nil for the first page.
    public var after: String?

    public init(source: SourcePath, after: String? = nil) {
        self.source = source
        self.after = after
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["source", "after"])
        source = try object.identifier("source")
        after = try object.optionalString("after")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("source", source)
        writer.optionalString("after", after)
    }

    /// One page, in the order of the ids, with what is true of the whole source.
    public struct Reply: Message, Equatable {
        /// SHA-256 of the source.
        public var digest: [UInt8]
        public var launch: LaunchState
        /// Rows of the legacy app, of whatever kind.
        public var rows: UInt64
        public var counts: ClassCounts
        /// Where wallets of the source that the ledger has were taken in, at most ``placeLimit``
        /// places, in the order of their names; on the first page alone.
        public var places: [Place]
        public var wallets: [Wallet]
        public var more: Bool

        public static let placeLimit = 100

        /// A place in the vault.
        public struct Place: Equatable, Sendable {
            public var network: WalletNetwork
            public var namespace: Namespace
            /// How many wallets of the source were taken in there.
            public var wallets: UInt64

            public init(network: WalletNetwork, namespace: Namespace, wallets: UInt64) {
                self.network = network
                self.namespace = namespace
                self.wallets = wallets
            }

            public init(from object: JSONObject) throws(JSONError) {
                try object.refuseUnknownKeys(["network", "namespace", "wallets"])
                network = try object.identifier("network")
                namespace = try object.identifier("namespace")
                wallets = try object.uint64("wallets")
            }

            public func write(to writer: inout JSONWriter) {
                writer.identifier("network", network)
                writer.identifier("namespace", namespace)
                writer.uint64("wallets", wallets)
            }
        }

        /// A legacy wallet.
        public struct Wallet: Equatable, Sendable {
            /// As the app named it; printed only through a filter, for it is foreign text.
            public var id: String
            public var reason: ClassReason

            public init(id: String, reason: ClassReason) {
                self.id = id
                self.reason = reason
            }
        }

        public init(
            digest: [UInt8], launch: LaunchState, rows: UInt64, counts: ClassCounts,
            places: [Place] = [], wallets: [Wallet], more: Bool
        ) {
            self.digest = digest
            self.launch = launch
            self.rows = rows
            self.counts = counts
            self.places = places
            self.wallets = wallets
            self.more = more
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys([
                "digest", "launch", "rows", "counts", "places", "wallets", "more",
            ])
            digest = try object.hex("digest", count: 32)
            launch = try object.identifier("launch")
            rows = try object.uint64("rows")
            counts = try ClassCounts(from: object.object("counts"))
            places = []
            for entry in try object.objects("places") { places.append(try Place(from: entry)) }
            wallets = []
            for entry in try object.objects("wallets") {
                try entry.refuseUnknownKeys(["id", "reason"])
                wallets.append(
                    Wallet(id: try entry.string("id"), reason: try entry.identifier("reason")))
            }
            more = try object.bool("more")
        }

        public func write(to writer: inout JSONWriter) {
            writer.hex("digest", digest)
            writer.identifier("launch", launch)
            writer.uint64("rows", rows)
            writer.object("counts") { counts.write(to: &$0) }
            writer.objects("places", places) { writer, place in place.write(to: &writer) }
            writer.objects("wallets", wallets) { writer, wallet in
                writer.string("id", wallet.id)
                writer.identifier("reason", wallet.reason)
            }
            writer.bool("more", more)
        }
    }
}

/// What a launching wallet app may do about a source.
///
/// A source that cannot be read at all is `unreadable`, and no error.
public struct AskLaunchState: Request, Equatable {
    public static var method: String { "migration.launch_state" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }

    public var source: SourcePath

    public init(source: SourcePath) { self.source = source }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["source"])
        source = try object.identifier("source")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("source", source) }

    public struct Reply: Message, Equatable {
        public var launch: LaunchState

        public init(launch: LaunchState) { self.launch = launch }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["launch"])
            launch = try object.identifier("launch")
        }

        public func write(to writer: inout JSONWriter) { writer.identifier("launch", launch) }
    }
}
