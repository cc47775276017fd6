public import Wire

/// The wallet of a namespace that has an identity, as it stands in clear.
///
/// Takes a resource session; opens nothing.
public struct FindWallet: Request, Equatable {
    public static var method: String { "vault.find" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .importers }
    public static var tokenUse: TokenUse { .required }

    public var namespace: Namespace
    public var walletKind: WalletKind
    /// For kinds that have one, and only for those.
    public var network: WalletNetwork?
    /// As many bytes as the kind says.
    public var identity: [UInt8]

    public init(
        namespace: Namespace, walletKind: WalletKind, network: WalletNetwork? = nil,
        identity: [UInt8]
    ) {
        self.namespace = namespace
        self.walletKind = walletKind
        self.network = network
        self.identity = identity
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "kind", "network", "identity"])
        namespace = try object.identifier("namespace")
        walletKind = try object.identifier("kind")
        network = try object.network(of: walletKind)
        identity = try object.hex("identity", count: walletKind.identityBytes)
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.identifier("kind", walletKind)
        writer.optionalIdentifier("network", network)
        writer.hex("identity", identity)
    }

    public typealias Reply = WalletDescription
}
