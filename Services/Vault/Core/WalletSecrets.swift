internal import Crypto
internal import Mnemonics
internal import Secrets
internal import VaultMessages

/// A wallet's phrase and the seed that follows from it.
struct WalletSecrets: Sendable {
    /// Normalized.
    let phrase: SharedSecret
    let seed: SharedSecret

    /// Words of the phrase.
    var words: Int { phrase.bytes.withBytes { 1 + $0.count { $0 == UInt8(ascii: " ") } } }

    init(phrase: SharedSecret, seed: SharedSecret) {
        self.phrase = phrase
        self.seed = seed
    }

    /// Brings a phrase to its one form, checks it, and goes the long way to its seed.
    init(typed: borrowing SecretBytes, as family: WalletFamily) throws(MnemonicError) {
        let phrase = try Mnemonic.normalize(typed)
        try family.validate(phrase)
        seed = SharedSecret(try family.seed(of: phrase))
        self.phrase = SharedSecret(phrase)
    }
}

/// What lies in the second envelope of a wallet: its seed, and for a slow kind a mark of the
/// phrase.
///
/// The mark says that a phrase and this seed belong together, where nobody can wait for the long
/// way from one to the other: under a proof, which is spent, and whose lease is short. It is
/// HMAC-SHA256(seed, "coffer.wallet.phrase.v1" ‖ phrase).
struct SeedContent: ~Copyable {
    let seed: SecretBytes
    /// Empty for a kind without one.
    private let mark: SecretBytes

    private static let label = Array("coffer.wallet.phrase.v1".utf8)
    private static let markByteCount = 32

    /// What is sealed for a new wallet.
    init(_ secrets: WalletSecrets, _ family: WalletFamily) {
        seed = secrets.seed.bytes.copy()
        mark =
            family.isSlow
            ? Self.mark(of: secrets.phrase.bytes, under: seed) : SecretBytes(count: 0)
    }

    /// Reads what was sealed.
    ///
    /// - Throws: `.envelopeDamaged` for another number of bytes than the kind has.
    init(reading bytes: borrowing SecretBytes, _ family: WalletFamily) throws(VaultFault) {
        let markByteCount = family.isSlow ? Self.markByteCount : 0
        guard bytes.count == family.seedByteCount + markByteCount else {
            throw .envelopeDamaged
        }
        seed = bytes.slice(0..<family.seedByteCount)
        mark = bytes.slice(family.seedByteCount..<bytes.count)
    }

    /// The seed and the mark behind it.
    borrowing func joined() -> SecretBytes {
        SecretBytes(count: seed.count + mark.count) { target in
            seed.withBytes { target.copyMemory(from: $0) }
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[seed.count...])
            mark.withBytes { rest.copyMemory(from: $0) }
        }
    }

    /// Whether the mark is this phrase's; true where the kind has none.
    borrowing func admits(_ phrase: borrowing SecretBytes) -> Bool {
        mark.count == 0 || mark.isEqual(to: Self.mark(of: phrase, under: seed))
    }

    private static func mark(
        of phrase: borrowing SecretBytes, under seed: borrowing SecretBytes
    ) -> SecretBytes {
        HMAC.sha256(key: seed, prefix: label, message: phrase)
    }
}
