public import VaultMessages
public import Wire

/// Makes a fresh key pair that holders can release their shares for.
///
/// Takes a resource session with backup-shares in its audience. The private key is kept, sealed
/// under a key of the owner's, until the restoration is finished or given up.
public struct BeginRestoration: NamespaceRequest, Equatable {
    public static var method: String { "shares.begin_restoration" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var namespace: Namespace

    public init(namespace: Namespace) { self.namespace = namespace }

    public typealias Reply = RestorationDescription
}

/// A restoration that was begun and not finished.
public struct RestorationDescription: Message, Equatable {
    public var restoration: RestorationID
    /// Ed25519, 32 bytes: what holders release their shares for.
    public var publicKey: [UInt8]
    /// When it was begun, in seconds since 1970.
    public var begun: UInt64
    /// Whether the private key opens and is that of the public key.
    ///
    /// Where it is not, the store was changed: nothing must be released for the public key, and the
    /// restoration can only be given up.
    public var intact: Bool

    public init(restoration: RestorationID, publicKey: [UInt8], begun: UInt64, intact: Bool) {
        self.restoration = restoration
        self.publicKey = publicKey
        self.begun = begun
        self.intact = intact
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["restoration", "public_key", "begun", "intact"])
        restoration = try object.identifier("restoration")
        publicKey = try object.hex("public_key", count: 32)
        begun = try object.uint64("begun")
        intact = try object.bool("intact")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("restoration", restoration)
        writer.hex("public_key", publicKey)
        writer.uint64("begun", begun)
        writer.bool("intact", intact)
    }
}

/// The restorations of a namespace that are not finished, oldest first; there are never many.
///
/// Takes a resource session with backup-shares in its audience.
public struct ListRestorations: NamespaceRequest, Equatable {
    public static var method: String { "shares.restorations" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var namespace: Namespace

    public init(namespace: Namespace) { self.namespace = namespace }

    public struct Reply: Message, Equatable {
        public var restorations: [RestorationDescription]

        public init(restorations: [RestorationDescription]) { self.restorations = restorations }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["restorations"])
            restorations = []
            for entry in try object.objects("restorations") {
                restorations.append(try RestorationDescription(from: entry))
            }
        }

        public func write(to writer: inout JSONWriter) {
            writer.objects("restorations", restorations) { writer, entry in
                entry.write(to: &writer)
            }
        }
    }
}

/// Gives a restoration up: its private key is erased.
///
/// Takes a resource session with backup-shares in its audience.
public struct AbandonRestoration: Request, Equatable {
    public static var method: String { "shares.abandon_restoration" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var namespace: Namespace
    public var restoration: RestorationID

    public init(namespace: Namespace, restoration: RestorationID) {
        self.namespace = namespace
        self.restoration = restoration
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "restoration"])
        namespace = try object.identifier("namespace")
        restoration = try object.identifier("restoration")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.identifier("restoration", restoration)
    }

    public typealias Reply = Empty
}

/// Restores a wallet from three released shares and installs it in the vault.
///
/// Takes a resource session with the vault and backup-shares in its audience. The attachments are
/// the three released share files, in any order. Nothing is installed unless the phrase has the
/// expected identity: the client's, or that of a confirmed split of this home. Where neither is
/// known, the identity that the phrase leads to is told and nothing is done: the client asks the
/// person and comes again with it, as a new change. A restoration that was installed is over, and
/// its private key erased.
public struct RestoreWallet: Request, Equatable {
    public static var method: String { "shares.restore" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }
    public static var attachmentCount: ClosedRange<Int> {
        SplitWallet.shareCount...SplitWallet.shareCount
    }

    public var namespace: Namespace
    public var restoration: RestorationID
    /// Of the wallet that is made.
    public var label: String
    /// The identity that the phrase must have; nil where the client does not know it.
    public var expected: [UInt8]?
    /// What the shares do not say where they come from another program: the kind, and its network.
    public var walletKind: WalletKind?
    public var network: WalletNetwork?

    public init(
        namespace: Namespace, restoration: RestorationID, label: String, expected: [UInt8]?,
        walletKind: WalletKind? = nil, network: WalletNetwork? = nil
    ) {
        self.namespace = namespace
        self.restoration = restoration
        self.label = label
        self.expected = expected
        self.walletKind = walletKind
        self.network = network
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([
            "namespace", "restoration", "label", "expected", "kind", "network",
        ])
        namespace = try object.identifier("namespace")
        restoration = try object.identifier("restoration")
        label = try object.walletLabel()
        expected = try object.optionalHex("expected")
        walletKind = try object.optionalIdentifier("kind")
        network =
            try walletKind.map { kind throws(JSONError) in try object.network(of: kind) } ?? nil
        guard walletKind != nil || !object.has("network") else { throw .invalid("network") }
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.identifier("restoration", restoration)
        writer.string("label", label)
        writer.optionalHex("expected", expected)
        writer.optionalIdentifier("kind", walletKind)
        writer.optionalIdentifier("network", network)
    }

    /// What came of it.
    public enum Reply: Message, Equatable {
        /// The wallet is in the vault.
        case installed(WalletDescription)
        /// The wallet is in the vault since an earlier attempt, whose answer was lost when a
        /// service stopped; `vault.list` has its description.
        case installedEarlier(SharedWallet)
        /// Nothing was done: the shares lead to this wallet, which nobody named.
        case unconfirmed(SharedWallet)
        /// Nothing was done: some files cannot be used.
        case unusable([Unusable])

        /// One file that cannot be used.
        public struct Unusable: Equatable, Sendable {
            /// Its place among the attachments, from 0.
            public var file: Int
            /// Whose share it is; nil where the file does not say so in a form that can be read.
            public var holder: HolderName?
            public var problem: ShareProblem

            public init(file: Int, holder: HolderName?, problem: ShareProblem) {
                self.file = file
                self.holder = holder
                self.problem = problem
            }
        }

        public init(from object: JSONObject) throws(JSONError) {
            switch try object.string("result") {
            case "installed":
                try object.refuseUnknownKeys(["result", "wallet"])
                self = .installed(try WalletDescription(from: object.object("wallet")))
            case "installed_earlier":
                try object.refuseUnknownKeys(["result", "wallet"])
                self = .installedEarlier(try SharedWallet(from: object.object("wallet")))
            case "unconfirmed":
                try object.refuseUnknownKeys(["result", "wallet"])
                self = .unconfirmed(try SharedWallet(from: object.object("wallet")))
            case "unusable":
                try object.refuseUnknownKeys(["result", "files"])
                var files: [Unusable] = []
                for entry in try object.objects("files") {
                    try entry.refuseUnknownKeys(["file", "holder", "problem"])
                    files.append(
                        Unusable(
                            file: try entry.integer("file"),
                            holder: try entry.optionalIdentifier("holder"),
                            problem: try entry.identifier("problem")))
                }
                self = .unusable(files)
            default: throw .invalid("result")
            }
        }

        public func write(to writer: inout JSONWriter) {
            switch self {
            case .installed(let wallet):
                writer.string("result", "installed")
                writer.object("wallet") { wallet.write(to: &$0) }
            case .installedEarlier(let wallet):
                writer.string("result", "installed_earlier")
                writer.object("wallet") { wallet.write(to: &$0) }
            case .unconfirmed(let wallet):
                writer.string("result", "unconfirmed")
                writer.object("wallet") { wallet.write(to: &$0) }
            case .unusable(let files):
                writer.string("result", "unusable")
                writer.objects("files", files) { writer, entry in
                    writer.integer("file", entry.file)
                    writer.optionalIdentifier("holder", entry.holder)
                    writer.identifier("problem", entry.problem)
                }
            }
        }
    }
}

/// What is wrong with a share file.
public enum ShareProblem: String, TextIdentifier, CaseIterable {
    /// It is no share file, or was changed.
    case damaged
    /// It is a share as it was handed to its holder, not one that he released.
    case sealed
    /// It was released for another restoration.
    case otherRestoration = "other_restoration"
    /// It is of another split than the other two.
    case otherSplit = "other_split"
    /// The same share is there twice.
    case duplicate
    /// It is whole and not the share that was handed out.
    case wrong

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// A request about one namespace, which it names and says nothing more.
public protocol NamespaceRequest: Request {
    var namespace: Namespace { get }
    init(namespace: Namespace)
}

extension NamespaceRequest {
    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace"])
        self.init(namespace: try object.identifier("namespace"))
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("namespace", namespace) }
}
