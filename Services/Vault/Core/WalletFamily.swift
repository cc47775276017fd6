internal import Crypto
internal import HDKeys
internal import Mnemonics
internal import Secrets
internal import VaultMessages
internal import Wire

/// What differs between kinds of wallets: how a phrase leads to a seed and a seed to an identity.
///
/// The **seed** is what keys follow from. For `bip39` and `dash` it is that of BIP-39 with the
/// empty passphrase, 64 bytes. For the TON kinds it is the seed of the one Ed25519 key pair (RFC
/// 8032), 32 bytes.
enum WalletFamily: Hashable, Sendable {
    case bip39
    case dash(DashNetwork)
    case ton
    case tonRotation

    /// Nil where a network is missing or given for a kind that has none.
    init?(_ kind: WalletKind, _ network: WalletNetwork?) {
        switch (kind, network) {
        case (.bip39, nil): self = .bip39
        case (.dash, .mainnet): self = .dash(.mainnet)
        case (.dash, .testnet): self = .dash(.testnet)
        case (.ton, nil): self = .ton
        case (.tonRotation, nil): self = .tonRotation
        default: return nil
        }
    }

    var kind: WalletKind {
        switch self {
        case .bip39: .bip39
        case .dash: .dash
        case .ton: .ton
        case .tonRotation: .tonRotation
        }
    }

    var network: WalletNetwork? {
        switch self {
        case .dash(.mainnet): .mainnet
        case .dash(.testnet): .testnet
        case .bip39, .ton, .tonRotation: nil
        }
    }

    // MARK: Phrase

    /// Checks words and checksum of a normalized phrase.
    func validate(_ phrase: borrowing SecretBytes) throws(MnemonicError) {
        switch self {
        case .bip39, .dash: try Mnemonic.validate(phrase)
        case .ton: try TONMnemonic.validate(phrase)
        case .tonRotation: _ = try RotationMnemonic(phrase)
        }
    }

    // MARK: Seed

    var seedByteCount: Int {
        switch self {
        case .bip39, .dash: Mnemonic.seedByteCount
        case .ton, .tonRotation: Ed25519.seedBytes
        }
    }

    /// Whether the way from phrase to seed is so long, a tenth of a second and more, that a lease
    /// may be over at its end.
    var isSlow: Bool { self == .ton }

    /// The seed of a valid phrase: 2,048 rounds of HMAC-SHA512, for `ton` 100,000.
    func seed(of phrase: borrowing SecretBytes) throws(MnemonicError) -> SecretBytes {
        switch self {
        case .bip39, .dash: try Mnemonic.seed(of: phrase, passphrase: SecretBytes(count: 0))
        case .ton: try TONMnemonic.privateKey(of: phrase)
        case .tonRotation: try RotationMnemonic(phrase).signingKey()
        }
    }

    // MARK: Identity

    /// The identity that a seed stands for; see ``WalletKind``.
    func identity(ofSeed seed: borrowing SecretBytes) throws(VaultFault) -> [UInt8] {
        do {
            switch self {
            case .bip39: return try BIP32.masterPublicKey(seed: seed)
            case .dash(let network): return try DashWalletID.sdk(seed: seed, network: network)
            case .ton, .tonRotation: return try Ed25519.publicKey(seed: seed)
            }
        } catch {
            // The seed of one phrase in 2^127 has no master key (BIP-32).
            throw .invalidPhrase
        }
    }
}
