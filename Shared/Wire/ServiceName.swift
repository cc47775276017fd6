/// The five services.
public enum ServiceName: String, TextIdentifier, CaseIterable {
    case credentialAuthority = "credential-authority"
    case attemptLimiter = "attempt-limiter"
    case walletVault = "wallet-vault"
    case backupShares = "backup-shares"
    case migration = "migration"

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }

    /// What the names of its methods and errors begin with.
    public var prefix: String {
        switch self {
        case .credentialAuthority: "authority"
        case .attemptLimiter: "limiter"
        case .walletVault: "vault"
        case .backupShares: "shares"
        case .migration: "migration"
        }
    }
}
