public import Wire

/// Makes a `bip39` wallet with a phrase generated inside the vault.
///
/// Wallets of other kinds come in by ``ImportWallet``. Takes a resource session.
public struct CreateWallet: Request, Equatable {
    public static var method: String { "vault.create" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var namespace: Namespace
    public var label: String
    /// 12 or 24.
    public var words: Int

    public init(namespace: Namespace, label: String, words: Int) {
        self.namespace = namespace
        self.label = label
        self.words = words
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "label", "words"])
        namespace = try object.identifier("namespace")
        label = try object.walletLabel()
        words = try object.integer("words")
        guard words == 12 || words == 24 else { throw .invalid("words") }
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.string("label", label)
        writer.integer("words", words)
    }

    public typealias Reply = WalletDescription
}

/// Takes in a wallet from its phrase, which is the one attachment.
///
/// Takes a resource session.
public struct ImportWallet: Request, Equatable {
    public static var method: String { "vault.import" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .importers }
    public static var tokenUse: TokenUse { .required }
    public static var attachmentCount: ClosedRange<Int> { 1...1 }

    public var namespace: Namespace
    public var label: String
    public var walletKind: WalletKind
    /// For kinds that have one, and only for those.
    public var network: WalletNetwork?
    /// The identity that the phrase must have; nil where the caller does not know it.
    public var expected: [UInt8]?

    public init(
        namespace: Namespace, label: String, walletKind: WalletKind,
        network: WalletNetwork? = nil, expected: [UInt8]?
    ) {
        self.namespace = namespace
        self.label = label
        self.walletKind = walletKind
        self.network = network
        self.expected = expected
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "label", "kind", "network", "expected"])
        namespace = try object.identifier("namespace")
        label = try object.walletLabel()
        walletKind = try object.identifier("kind")
        network = try object.network(of: walletKind)
        expected = try object.optionalHex("expected")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.string("label", label)
        writer.identifier("kind", walletKind)
        writer.optionalIdentifier("network", network)
        writer.optionalHex("expected", expected)
    }

    public typealias Reply = WalletDescription
}

extension JSONObject {
    /// The member `label`; see ``WalletLabel``.
    public func walletLabel() throws(JSONError) -> String {
        let label = try string("label")
        guard WalletLabel.isValid(label) else { throw .invalid("label") }
        return label
    }
}
