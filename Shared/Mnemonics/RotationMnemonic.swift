internal import Crypto
internal import HDKeys
public import Secrets

/// The phrase of a TON wallet whose signing key can be replaced while its address stays (TEP-3).
///
/// It is two BIP-39 phrases of 12 words, each with its own checksum: the anchor fixes the address,
/// the other signs. Before the first rotation both are the same and 12 words are shown. A BIP-39
/// phrase of 24 words is not one of these.
public struct RotationMnemonic: ~Copyable, Sendable {
    /// Words of either half.
    public static let halfWordCount = 12

    /// The 12 words that fix the address.
    public let anchor: SecretBytes
    /// The 12 words that sign: the last of the phrase.
    public let signing: SecretBytes

    /// Reads a normalized phrase of 12 or 24 words; both halves must be valid, else throws what is
    /// wrong with one of them.
    public init(_ normalized: borrowing SecretBytes) throws(MnemonicError) {
        let words = normalized.withBytes { PhraseWords.count(in: $0) }
        guard words == Self.halfWordCount || words == 2 * Self.halfWordCount else {
            throw .wrongWordCount(words)
        }
        let border = normalized.withBytes { Self.end(ofWord: Self.halfWordCount, in: $0) }
        let start = words == Self.halfWordCount ? 0 : border + 1
        let anchor = normalized.slice(0..<border)
        let signing = normalized.slice(start..<normalized.count)
        try Mnemonic.validate(anchor)
        do throws(MnemonicError) {
            try Mnemonic.validate(signing)
        } catch .unknownWord(let position) {
            throw .unknownWord(position: Self.halfWordCount + position)
        }
        self.anchor = anchor
        self.signing = signing
    }

    /// The private key that signs, an Ed25519 seed of 32 bytes.
    public borrowing func signingKey() throws(MnemonicError) -> SecretBytes {
        try Self.privateKey(of: signing)
    }

    /// The public key that the wallet is known by, 32 bytes.
    public borrowing func signingPublicKey() throws(MnemonicError) -> [UInt8] {
        try Self.publicKey(of: signing)
    }

    /// The public key that the address is made from, 32 bytes.
    public borrowing func anchorPublicKey() throws(MnemonicError) -> [UInt8] {
        try Self.publicKey(of: anchor)
    }

    private static func publicKey(
        of half: borrowing SecretBytes
    ) throws(MnemonicError) -> [UInt8] {
        let privateKey = try privateKey(of: half)
        do throws(CryptoError) {
            return try Ed25519.publicKey(seed: privateKey)
        } catch {
            throw .failed
        }
    }

    /// At m/44'/607'/0' of the half's seed without a passphrase (SLIP-0010).
    private static func privateKey(
        of half: borrowing SecretBytes
    ) throws(MnemonicError) -> SecretBytes {
        let seed = try Mnemonic.seed(of: half, passphrase: SecretBytes(count: 0))
        do throws(HDKeyError) {
            let path = try DerivationPath("m/44'/607'/0'")
            return try SLIP10Ed25519.derive(seed: seed, path: path).privateKey.copy()
        } catch {
            throw .failed
        }
    }

    /// Where the so many-th word ends, counted from 1, in a phrase that has as many.
    private static func end(ofWord word: Int, in phrase: UnsafeRawBufferPointer) -> Int {
        var spaces = 0
        let border = phrase.firstIndex { byte in
            spaces += byte == UInt8(ascii: " ") ? 1 : 0
            return spaces == word
        }
        return border ?? phrase.count
    }
}
