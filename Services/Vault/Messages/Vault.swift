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
    /// A BIP-39 phrase; the identity is its BIP-32 master public key, compressed, 33 bytes.
    case bip39
    /// A BIP-39 phrase of a Dash wallet of one network; the identity is its 32-byte SDK id there.
    case dash
    /// A TON mnemonic; the identity is its 32-byte Ed25519 public key.
    case ton
    /// A TON mnemonic whose signing half can be rotated, 12 or 24 words; the identity is the
    /// 32-byte Ed25519 public key of its last 12 words.
    case tonRotation = "ton-rotation"

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }

    /// Bytes of an identity.
    public var identityBytes: Int { self == .bip39 ? 33 : 32 }
    /// Whether wallets of this kind are of one network.
    public var hasNetwork: Bool { self == .dash }
}

/// The network that a wallet's identity is of.
public enum WalletNetwork: String, TextIdentifier, CaseIterable {
    case mainnet
    case testnet

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// A wallet as anybody with a session may see it.
public struct WalletDescription: Message, Equatable {
    public var wallet: WalletID
    public var kind: WalletKind
    /// For kinds that have one, and only for those.
    public var network: WalletNetwork?
    /// Chosen by a person; at most 64 bytes of text.
    public var label: String
    /// As many bytes as the kind says.
    public var identity: [UInt8]
    /// Whether the identity was compared with the secret since the vault started.
    public var verified: Bool
    /// Words of the phrase.
    public var words: Int

    public init(
        wallet: WalletID, kind: WalletKind, network: WalletNetwork? = nil, label: String,
        identity: [UInt8], verified: Bool, words: Int
    ) {
        self.wallet = wallet
        self.kind = kind
        self.network = network
        self.label = label
        self.identity = identity
        self.verified = verified
        self.words = words
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([
            "wallet", "kind", "network", "label", "identity", "verified", "words",
        ])
        wallet = try object.identifier("wallet")
        kind = try object.identifier("kind")
        network = try object.network(of: kind)
        label = try object.string("label")
        identity = try object.hex("identity")
        verified = try object.bool("verified")
        words = try object.integer("words")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("wallet", wallet)
        writer.identifier("kind", kind)
        writer.optionalIdentifier("network", network)
        writer.string("label", label)
        writer.hex("identity", identity)
        writer.bool("verified", verified)
        writer.integer("words", words)
    }
}

extension JSONObject {
    /// The member `network`, which stands where the kind of wallet has one and nowhere else.
    public func network(of kind: WalletKind) throws(JSONError) -> WalletNetwork? {
        let network: WalletNetwork? = try optionalIdentifier("network")
        guard (network != nil) == kind.hasNetwork else { throw .invalid("network") }
        return network
    }
}
