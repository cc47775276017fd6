public import VaultMessages
public import Wire

/// Splits a wallet's phrase into three shares, each sealed for its holder.
///
/// Takes a `reveal` proof with the vault and backup-shares in its audience: the phrase goes from
/// the vault to backup-shares and never to the client. The attachments of the reply are the three
/// share files, in the order of the holders. The split counts as a backup only when it is
/// confirmed: until then nobody knows that the files were kept.
public struct SplitWallet: Request, Equatable {
    public static var method: String { "shares.split" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }
    public static var replyAttachmentCount: ClosedRange<Int> { shareCount...shareCount }

    public static let shareCount = 3

    public var namespace: Namespace
    public var wallet: WalletID
    /// Three different holders.
    public var holders: [HolderName]

    public init(namespace: Namespace, wallet: WalletID, holders: [HolderName]) {
        self.namespace = namespace
        self.wallet = wallet
        self.holders = holders
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "wallet", "holders"])
        namespace = try object.identifier("namespace")
        wallet = try object.identifier("wallet")
        holders = try object.identifiers("holders", as: HolderName.self)
        guard holders.count == Self.shareCount, Set(holders).count == Self.shareCount else {
            throw .invalid("holders")
        }
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.identifier("wallet", wallet)
        writer.identifiers("holders", holders)
    }

    public typealias Reply = Manifest
}

/// Says that the three files of a split were written, durably and whole.
///
/// Takes a resource session with backup-shares in its audience. The digests prove that the files
/// are those of the split. Earlier splits of the same wallet that nobody confirmed are forgotten.
/// What is confirmed already stays so.
public struct ConfirmSplit: Request, Equatable {
    public static var method: String { "shares.confirm_split" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var namespace: Namespace
    public var split: SplitID
    /// SHA-256 of each file as it was read back, in the order of the holders.
    public var files: [[UInt8]]

    public init(namespace: Namespace, split: SplitID, files: [[UInt8]]) {
        self.namespace = namespace
        self.split = split
        self.files = files
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "split", "files"])
        namespace = try object.identifier("namespace")
        split = try object.identifier("split")
        files = try object.digests("files")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.identifier("split", split)
        writer.digests("files", files)
    }

    public typealias Reply = Empty
}

/// The splits of a namespace's wallets, oldest first.
///
/// Takes a resource session with backup-shares in its audience.
public struct ListSplits: PageRequest, Equatable {
    public static var method: String { "shares.splits" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public static let pageLimit = 50

    public var namespace: Namespace
    /// The last split of the page before; nil for the first page.
    public var after: SplitID?

    public init(namespace: Namespace, after: SplitID? = nil) {
        self.namespace = namespace
        self.after = after
    }

    /// One page, and whether there are more.
    public struct Reply: Message, Equatable {
        public var splits: [Manifest]
        public var more: Bool

        public init(splits: [Manifest], more: Bool) {
            self.splits = splits
            self.more = more
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["splits", "more"])
            splits = []
            for entry in try object.objects("splits") { splits.append(try Manifest(from: entry)) }
            more = try object.bool("more")
        }

        public func write(to writer: inout JSONWriter) {
            writer.objects("splits", splits) { writer, split in split.write(to: &writer) }
            writer.bool("more", more)
        }
    }
}

/// What is kept of a split: everything but the shares.
public struct Manifest: Message, Equatable {
    public var split: SplitID
    public var wallet: SharedWallet
    /// When it was made, in seconds since 1970.
    public var made: UInt64
    /// Whether its files are known to have been written; never so for a manifest that was changed
    /// in the store.
    public var confirmed: Bool
    public var shares: [Share]

    /// One of the three.
    public struct Share: Equatable, Sendable {
        public var holder: HolderName
        /// Ed25519, 32 bytes: what the share was sealed for.
        public var publicKey: [UInt8]
        /// What the share itself answers to; see `docs/formats.md`.
        public var digest: [UInt8]
        /// SHA-256 of the share file.
        public var file: [UInt8]

        public init(holder: HolderName, publicKey: [UInt8], digest: [UInt8], file: [UInt8]) {
            self.holder = holder
            self.publicKey = publicKey
            self.digest = digest
            self.file = file
        }
    }

    public init(
        split: SplitID, wallet: SharedWallet, made: UInt64, confirmed: Bool, shares: [Share]
    ) {
        self.split = split
        self.wallet = wallet
        self.made = made
        self.confirmed = confirmed
        self.shares = shares
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["split", "wallet", "made", "confirmed", "shares"])
        split = try object.identifier("split")
        wallet = try SharedWallet(from: object.object("wallet"))
        made = try object.uint64("made")
        confirmed = try object.bool("confirmed")
        shares = []
        for entry in try object.objects("shares") {
            try entry.refuseUnknownKeys(["holder", "public_key", "digest", "file"])
            shares.append(
                Share(
                    holder: try entry.identifier("holder"),
                    publicKey: try entry.hex("public_key", count: 32),
                    digest: try entry.hex("digest", count: 32),
                    file: try entry.hex("file", count: 32)))
        }
        guard shares.count == SplitWallet.shareCount else { throw .invalid("shares") }
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("split", split)
        writer.object("wallet") { wallet.write(to: &$0) }
        writer.uint64("made", made)
        writer.bool("confirmed", confirmed)
        writer.objects("shares", shares) { writer, share in
            writer.identifier("holder", share.holder)
            writer.hex("public_key", share.publicKey)
            writer.hex("digest", share.digest)
            writer.hex("file", share.file)
        }
    }
}

extension JSONObject {
    /// Three SHA-256 digests.
    fileprivate func digests(_ key: String) throws(JSONError) -> [[UInt8]] {
        var digests: [[UInt8]] = []
        for text in try strings(key) {
            guard let digest = Hex.decode(text), digest.count == 32 else { throw .invalid(key) }
            digests.append(digest)
        }
        guard digests.count == SplitWallet.shareCount else { throw .invalid(key) }
        return digests
    }
}

extension JSONWriter {
    fileprivate mutating func digests(_ key: String, _ digests: [[UInt8]]) {
        strings(key, digests.map { Hex.encode($0) })
    }
}
