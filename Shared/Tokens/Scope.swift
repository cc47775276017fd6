public import Wire

/// What a session is for.
///
/// A session opens exactly its own scope.
public enum Scope: Hashable, Sendable {
    case appUnlock
    case managePasscode
    case settings
    /// The wallets of one namespace.
    case resource(Namespace)
    /// A proof for one signature.
    case sign(Namespace, WalletID)
    /// A proof for showing one phrase.
    case reveal(Namespace, WalletID)
    /// Setting one new passcode after a recovery by phrase.
    case recover
}

extension Scope {
    /// The members that a scope has in claims and messages.
    public static let keys = ["scope", "namespace", "wallet"]

    public var namespace: Namespace? {
        switch self {
        case .resource(let namespace), .sign(let namespace, _), .reveal(let namespace, _): namespace
        case .appUnlock, .managePasscode, .settings, .recover: nil
        }
    }

    public var wallet: WalletID? {
        switch self {
        case .sign(_, let wallet), .reveal(_, let wallet): wallet
        case .appUnlock, .managePasscode, .settings, .resource, .recover: nil
        }
    }

    /// Whether it is spent at its one use.
    public var isProof: Bool {
        switch self {
        case .sign, .reveal, .recover: true
        case .appUnlock, .managePasscode, .settings, .resource: false
        }
    }

    /// Reads `scope`, `namespace` and `wallet`: exactly those that the scope has.
    public init(from object: JSONObject) throws(JSONError) {
        switch try object.string("scope") {
        case "app_unlock": self = .appUnlock
        case "manage_passcode": self = .managePasscode
        case "settings": self = .settings
        case "recover": self = .recover
        case "resource": self = .resource(try object.identifier("namespace"))
        case "sign":
            self = .sign(try object.identifier("namespace"), try object.identifier("wallet"))
        case "reveal":
            self = .reveal(try object.identifier("namespace"), try object.identifier("wallet"))
        default: throw .invalid("scope")
        }
        guard object.has("namespace") == (namespace != nil) else { throw .invalid("namespace") }
        guard object.has("wallet") == (wallet != nil) else { throw .invalid("wallet") }
    }

    public func write(to writer: inout JSONWriter) {
        writer.string("scope", name)
        writer.optionalIdentifier("namespace", namespace)
        writer.optionalIdentifier("wallet", wallet)
    }

    private var name: String {
        switch self {
        case .appUnlock: "app_unlock"
        case .managePasscode: "manage_passcode"
        case .settings: "settings"
        case .resource: "resource"
        case .sign: "sign"
        case .reveal: "reveal"
        case .recover: "recover"
        }
    }
}
