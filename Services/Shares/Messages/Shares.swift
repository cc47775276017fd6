public import VaultMessages
public import Wire

/// The backup shares: splits a wallet's phrase between three holders, and restores it from what
/// they release.
public enum Shares: ServiceTag {
    public static var service: ServiceName { .backupShares }
}

extension Callers {
    /// Wallet apps and the person's own command.
    static var apps: Callers { Callers(roles: [.app]) }
}

/// Names one split of a wallet's phrase.
public typealias SplitID = Identifier<SplitWallet>
/// Names one restoration, with the key pair that was made for it.
public typealias RestorationID = Identifier<BeginRestoration>

/// What an owner calls somebody who keeps a share.
public struct HolderName: TextIdentifier {
    /// 1 to 64 of `A-Z a-z 0-9 . _ -`, the first no dot: files are named after it, and one of a
    /// hidden name could be taken for a leftover.
    public let text: String

    public init?(_ text: String) {
        guard NameRule.accepts(text), !text.hasPrefix(".") else { return nil }
        self.text = text
    }
}

/// Somebody who keeps shares.
public struct HolderDescription: Message, Equatable {
    /// Bytes of a public key.
    public static let publicKeyBytes = 32

    public var name: HolderName
    /// Ed25519, 32 bytes.
    public var publicKey: [UInt8]
    /// When it was added, in seconds since 1970.
    public var added: UInt64

    public init(name: HolderName, publicKey: [UInt8], added: UInt64) {
        self.name = name
        self.publicKey = publicKey
        self.added = added
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["name", "public_key", "added"])
        name = try object.identifier("name")
        publicKey = try object.hex("public_key", count: Self.publicKeyBytes)
        added = try object.uint64("added")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("name", name)
        writer.hex("public_key", publicKey)
        writer.uint64("added", added)
    }
}

/// What is known of the wallet whose phrase is shared out.
public struct SharedWallet: Message, Equatable {
    public var kind: WalletKind
    /// For kinds that have one, and only for those.
    public var network: WalletNetwork?
    /// As many bytes as the kind says.
    public var identity: [UInt8]
    /// Words of the phrase.
    public var words: Int

    public init(kind: WalletKind, network: WalletNetwork?, identity: [UInt8], words: Int) {
        self.kind = kind
        self.network = network
        self.identity = identity
        self.words = words
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["kind", "network", "identity", "words"])
        kind = try object.identifier("kind")
        network = try object.network(of: kind)
        identity = try object.hex("identity", count: kind.identityBytes)
        words = try object.integer("words")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("kind", kind)
        writer.optionalIdentifier("network", network)
        writer.hex("identity", identity)
        writer.integer("words", words)
    }
}
