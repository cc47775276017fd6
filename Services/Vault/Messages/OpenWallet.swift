public import Wire

/// Opens a wallet's envelopes and compares its identity; returns nothing secret.
///
/// Takes a resource session.
public struct CheckWallet: WalletRequest, Equatable {
    public static var method: String { "vault.check" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers {
        Callers(services: [.backupShares, .migration], roles: [.app])
    }
    public static var tokenUse: TokenUse { .required }

    public var namespace: Namespace
    public var wallet: WalletID

    public init(namespace: Namespace, wallet: WalletID) {
        self.namespace = namespace
        self.wallet = wallet
    }

    public typealias Reply = WalletDescription
}

/// Shows a wallet's phrase, which is the attachment of the reply.
///
/// Takes a `reveal` proof.
public struct RevealWallet: WalletRequest, Equatable {
    public static var method: String { "vault.reveal" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers {
        Callers(services: [.backupShares], roles: [.app])
    }
    public static var tokenUse: TokenUse { .required }
    public static var replyAttachmentCount: ClosedRange<Int> { 1...1 }

    public var namespace: Namespace
    public var wallet: WalletID

    public init(namespace: Namespace, wallet: WalletID) {
        self.namespace = namespace
        self.wallet = wallet
    }

    public typealias Reply = WalletDescription
}

/// Removes a wallet and its envelopes for good.
///
/// Takes a settings session of passcode origin with the vault in its audience, and a peer that may
/// destroy.
public struct RemoveWallet: WalletRequest, Equatable {
    public static var method: String { "vault.remove" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var namespace: Namespace
    public var wallet: WalletID

    public init(namespace: Namespace, wallet: WalletID) {
        self.namespace = namespace
        self.wallet = wallet
    }

    public typealias Reply = Empty
}

/// A request about one wallet, which it names and says nothing more.
public protocol WalletRequest: Request {
    var namespace: Namespace { get }
    var wallet: WalletID { get }
    init(namespace: Namespace, wallet: WalletID)
}

extension WalletRequest {
    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "wallet"])
        self.init(
            namespace: try object.identifier("namespace"),
            wallet: try object.identifier("wallet"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.identifier("wallet", wallet)
    }
}
