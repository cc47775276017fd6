public import Wire

/// The credential authority: verifies passcodes, issues sessions, derives keys.
public enum Authority: ServiceTag {
    public static var service: ServiceName { .credentialAuthority }
}

extension Callers {
    /// Wallet apps and the person's own command.
    static var apps: Callers { Callers(roles: [.app]) }
    /// Those, and extensions, which may only verify and look.
    static var appsAndExtensions: Callers { Callers(roles: [.app, .extension]) }
    /// The services that hold what derived keys open.
    static var keyUsers: Callers { Callers(services: [.walletVault, .backupShares, .migration]) }
}

/// The shape of a passcode.
public enum PasscodeKind: String, TextIdentifier, CaseIterable {
    case digits4
    case digits6
    case alphanumeric

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// What a signature needs.
public enum SignPolicy: String, TextIdentifier, CaseIterable {
    /// The passcode, for every signature.
    case proof
    /// An unlocked resource session: for a hot wallet.
    case session

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}
