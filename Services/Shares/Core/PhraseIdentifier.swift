internal import HDKeys
public import Loop
internal import Mnemonics
public import Secrets
public import SharesMessages
public import VaultMessages

/// Tells which wallet a phrase is of.
@ServiceLoop
public protocol PhraseIdentifier: AnyObject {
    /// Throws ``SharesFault/invalidPhrase`` for a text that is no phrase of this kind.
    func wallet(
        of phrase: SharedSecret, kind: WalletKind, network: WalletNetwork?
    ) async throws(SharesFault) -> SharedWallet
}

/// Derives on the pool's threads: 2,048 to 100,000 rounds of HMAC-SHA512 would hold up the loop.
@ServiceLoop
public final class PooledIdentifier: PhraseIdentifier {
    private let pool: WorkerPool

    public init(pool: WorkerPool) { self.pool = pool }

    public func wallet(
        of phrase: SharedSecret, kind: WalletKind, network: WalletNetwork?
    ) async throws(SharesFault) -> SharedWallet {
        try await pool.run { PhraseIdentity.wallet(of: phrase, kind, network) }.get()
    }
}

/// What a phrase is known by; the same that the vault compares when it takes the wallet in.
enum PhraseIdentity {
    static func wallet(
        of phrase: SharedSecret, _ kind: WalletKind, _ network: WalletNetwork?
    ) -> Result<SharedWallet, SharesFault> {
        guard (network != nil) == kind.hasNetwork else { return .failure(.kindNeeded) }
        do {
            let normalized = try Mnemonic.normalize(phrase.bytes)
            return .success(
                SharedWallet(
                    kind: kind, network: network,
                    identity: try identity(of: normalized, kind, network),
                    words: normalized.withBytes { 1 + $0.count { $0 == UInt8(ascii: " ") } }))
        } catch {
            return .failure(.invalidPhrase)
        }
    }

    private static func identity(
        of normalized: borrowing SecretBytes, _ kind: WalletKind, _ network: WalletNetwork?
    ) throws -> [UInt8] {
        switch kind {
        case .bip39:
            return try BIP32.masterPublicKey(seed: seed(of: normalized))
        case .dash:
            let network: DashNetwork = network == .testnet ? .testnet : .mainnet
            return try DashWalletID.sdk(seed: seed(of: normalized), network: network)
        case .ton:
            try TONMnemonic.validate(normalized)
            return try TONMnemonic.publicKey(of: normalized)
        case .tonRotation:
            return try RotationMnemonic(normalized).signingPublicKey()
        }
    }

    private static func seed(of normalized: borrowing SecretBytes) throws -> SecretBytes {
        try Mnemonic.validate(normalized)
        return try Mnemonic.seed(of: normalized, passphrase: SecretBytes(count: 0))
    }
}
