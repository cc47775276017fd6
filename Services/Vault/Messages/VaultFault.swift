public import Wire

/// Why the vault gives no answer.
///
/// In every case nothing changed.
public enum VaultFault: String, NamedFault {
    case noSuchWallet = "vault.no_such_wallet"
    case walletExists = "vault.wallet_exists"
    case envelopeDamaged = "vault.envelope_damaged"
    case identityMismatch = "vault.identity_mismatch"
    case unexpectedIdentity = "vault.unexpected_identity"
    case invalidPhrase = "vault.invalid_phrase"
    case invalidPath = "vault.invalid_path"
    case invalidMessage = "vault.invalid_message"
    case full = "vault.full"

    public var meaning: String {
        switch self {
        case .noSuchWallet: "There is no such wallet in this namespace."
        case .walletExists: "A wallet with this identity is in the namespace already."
        case .envelopeDamaged:
            "The wallet's envelope does not open: it is damaged or was put there from elsewhere. "
                + "Nothing was overwritten; put the store back from a copy."
        case .identityMismatch:
            "The wallet's secret does not have the identity that stands beside it. Nothing was "
                + "overwritten; put the store back from a copy."
        case .unexpectedIdentity: "The phrase is of another wallet than the one expected."
        case .invalidPhrase:
            "This is no phrase of a wallet of this kind: for bip39 and dash 12, 15, 18, 21 or 24 "
                + "words with a right checksum, for ton 24 words without a password, for "
                + "ton-rotation one or two phrases of 12 words; all of the English list."
        case .invalidPath:
            "The wallet has no such key for this signature scheme. Ed25519 takes hardened levels "
                + "only. A wallet of kind ton signs with ed25519 at m, one of kind ton-rotation "
                + "with ed25519 at m/44'/607'/0', and with no other key."
        case .invalidMessage:
            "What is to be signed has the wrong size: 32 bytes for secp256k1, at most 32 KiB for "
                + "Ed25519."
        case .full: "The namespace holds as many wallets as it may."
        }
    }
}
