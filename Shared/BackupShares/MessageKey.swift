internal import Crypto
public import Secrets

/// The key that two owners of Ed25519 keys share: that of tde2e's `key_from_ecdh`.
public struct MessageKey: ~Copyable, Sendable {
    public static let byteCount = 32

    /// 32 bytes.
    let bytes: SecretBytes

    /// A key that came about elsewhere; throws ``ShareError/invalidKey`` unless it has 32 bytes.
    public init(_ bytes: consuming SecretBytes) throws(ShareError) {
        guard bytes.count == Self.byteCount else { throw .invalidKey }
        self.bytes = bytes
    }

    /// Agreed between a private key, which is a 32-byte seed (RFC 8032), and a public key.
    ///
    /// Both sides get the same. The first half of HMAC-SHA512 over X25519's result, under the label
    /// as key. Throws ``ShareError/invalidKey`` for other lengths and for keys of low order; the
    /// sign bit of the public key plays no part.
    public init(
        privateKey: borrowing SecretBytes, publicKey: [UInt8]
    ) throws(ShareError) {
        let agreed: SecretBytes
        do throws(CryptoError) {
            agreed = try X25519.sharedSecret(
                EdwardsAgreement.scalar(seed: privateKey),
                with: EdwardsAgreement.coordinate(publicKey: publicKey))
        } catch {
            throw error == .failed ? .failed : .invalidKey
        }
        let label = SecretBytes(copying: Array("tde2e_shared_secret".utf8))
        bytes = HMAC.sha512(key: label, message: agreed).slice(0..<Self.byteCount)
    }

    /// Whether two keys are the same, in constant time.
    public borrowing func isEqual(to other: borrowing MessageKey) -> Bool {
        bytes.isEqual(to: other.bytes)
    }
}
