public import Wire

/// The wallet vault: keeps wallets' secrets in envelopes, shows them and signs with them.
public enum Vault: ServiceTag {
    public static var service: ServiceName { .walletVault }
}

extension Callers {
    /// Wallet apps and the person's own command.
    static var apps: Callers { Callers(roles: [.app]) }
    /// Those, and engines, which sign.
    static var signers: Callers { Callers(roles: [.app, .engine]) }
    /// Those that bring phrases in.
    static var importers: Callers { Callers(services: [.backupShares, .migration], roles: [.app]) }
}

/// What a wallet's secret is and how its identity is derived.
public enum WalletKind: String, TextIdentifier, CaseIterable {
    /// A BIP-39 phrase; the identity is its BIP-32 master public key.
    case bip39

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// A wallet as anybody with a session may see it.
public struct WalletDescription: Message, Equatable {
    public var wallet: WalletID
    public var kind: WalletKind
    /// Chosen by a person; at most 64 bytes of text.
    public var label: String
    /// 33 bytes for `bip39`.
    public var identity: [UInt8]
    /// Whether the identity was compared with the secret since the vault started.
    public var verified: Bool
    /// Words of the phrase.
    public var words: Int

    public init(
        wallet: WalletID, kind: WalletKind, label: String, identity: [UInt8], verified: Bool,
        words: Int
    ) {
        self.wallet = wallet
        self.kind = kind
        self.label = label
        self.identity = identity
        self.verified = verified
        self.words = words
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([
            "wallet", "kind", "label", "identity", "verified", "words",
        ])
        wallet = try object.identifier("wallet")
        kind = try object.identifier("kind")
        label = try object.string("label")
        identity = try object.hex("identity")
        verified = try object.bool("verified")
        words = try object.integer("words")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("wallet", wallet)
        writer.identifier("kind", kind)
        writer.string("label", label)
        writer.hex("identity", identity)
        writer.bool("verified", verified)
        writer.integer("words", words)
    }
}
