/// How much the vault keeps and takes.
public struct VaultLimits: Sendable, Equatable {
    /// Wallets in one namespace.
    public var walletsPerNamespace = 100_000
    /// Bytes of a phrase as it is typed or pasted.
    public var phraseBytes = 4_096
    /// Bytes of a message that Ed25519 signs.
    public var messageBytes = 32_768

    public init() {}
}
