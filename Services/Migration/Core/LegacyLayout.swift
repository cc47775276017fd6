/// Where the legacy app keeps what: the frozen layout of its keychain.
public enum LegacyLayout {
    /// The keychain service of all its items.
    public static let service = "org.dashfoundation.dash"
    /// Followed by a wallet's id: the account of a recovery phrase.
    public static let phrasePrefix = "WALLET_MNEMONIC_KEY_"
    /// Followed by a chain's genesis in short: the account of the list of that chain's wallets.
    public static let listPrefix = "CHAIN_WALLETS_KEY_"
    /// The first seven hexadecimal digits of the genesis hash, in internal byte order.
    static let mainnetGenesis = "b67a40f"
    static let testnetGenesis = "2cbcf83"
}

/// The chain that a list is of, as the account's suffix names it.
public enum Chain: CaseIterable, Sendable {
    case mainnet
    case testnet
    /// A devnet, regtest or evonet, or nothing that was ever known.
    case unsupported

    public init(genesis: some StringProtocol) {
        let text = Array(genesis.utf8)
        self =
            switch text {
            case Array(LegacyLayout.mainnetGenesis.utf8): .mainnet
            case Array(LegacyLayout.testnetGenesis.utf8): .testnet
            default: .unsupported
            }
    }
}
