internal import Crypto
public import Secrets

/// The recovery phrases of the first TON wallets: 24 words of the BIP-39 list without its checksum.
///
/// A phrase is valid by a mark: a byte of a hash, for which its maker searched. Phrases that need a
/// password are not read. Scheme and salts are those of ton-blockchain/ton (tonlib) and ton-crypto.
public enum TONMnemonic {
    public static let wordCount = 24
    /// Bytes of the private key, which is an Ed25519 seed (RFC 8032).
    public static let privateKeyByteCount = 32

    /// Whether a normalized phrase is a valid one; see ``validate(_:)``.
    public static func isValid(_ normalized: borrowing SecretBytes) -> Bool {
        do throws(MnemonicError) {
            try validate(normalized)
            return true
        } catch {
            return false
        }
    }

    /// Checks number of words, then every word, then the mark of a normalized phrase.
    ///
    /// A missing mark is ``MnemonicError/badChecksum``.
    public static func validate(_ normalized: borrowing SecretBytes) throws(MnemonicError) {
        let words = normalized.withBytes { PhraseWords.count(in: $0) }
        guard words == wordCount else { throw .wrongWordCount(words) }
        if let position = try firstUnknownWord(in: normalized) {
            throw .unknownWord(position: position)
        }
        let mark = try hash(
            normalized, salt: "TON seed version", rounds: keyRounds / 256, count: 1)
        guard mark.withBytes({ $0[0] }) == 0 else { throw .badChecksum }
    }

    /// The private key of a normalized phrase, which is not validated here.
    public static func privateKey(
        of normalized: borrowing SecretBytes
    ) throws(MnemonicError) -> SecretBytes {
        try hash(
            normalized, salt: "TON default seed", rounds: keyRounds, count: privateKeyByteCount)
    }

    /// The 32-byte public key of a normalized phrase, which is not validated here.
    public static func publicKey(
        of normalized: borrowing SecretBytes
    ) throws(MnemonicError) -> [UInt8] {
        let privateKey = try privateKey(of: normalized)
        do throws(CryptoError) {
            return try Ed25519.publicKey(seed: privateKey)
        } catch {
            throw .failed
        }
    }

    private static let keyRounds = 100_000

    /// PBKDF2-HMAC-SHA512 over the HMAC of an empty password under the phrase.
    private static func hash(
        _ normalized: borrowing SecretBytes, salt: String, rounds: Int, count: Int
    ) throws(MnemonicError) -> SecretBytes {
        let entropy = HMAC.sha512(key: normalized, message: [])
        do throws(CryptoError) {
            return try PBKDF2.sha512(
                password: entropy, salt: Array(salt.utf8), iterations: rounds, count: count)
        } catch {
            throw .failed
        }
    }

    /// Counted from 1; looks at every word whatever it finds.
    private static func firstUnknownWord(
        in normalized: borrowing SecretBytes
    ) throws(MnemonicError) -> Int? {
        let list = try WordList.english()
        return normalized.withBytes { phrase in
            var rest = PhraseWords(phrase)
            var unknown: Int?
            var position = 1
            while let word = rest.next() {
                if list.position(of: word) == nil && unknown == nil { unknown = position }
                position += 1
            }
            return unknown
        }
    }
}
