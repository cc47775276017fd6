internal import CSodium
public import Secrets

/// Ed25519 signatures (RFC 8032) from a 32-byte seed.
public enum Ed25519 {
    public static let seedBytes = 32
    public static let publicKeyBytes = 32
    public static let signatureBytes = 64

    /// Throws `invalidLength` unless the seed has 32 bytes.
    public static func publicKey(seed: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        try Ed25519SigningKey(seed: seed).publicKey
    }

    /// Throws `invalidLength` unless the seed has 32 bytes.
    public static func sign(
        _ message: UnsafeRawBufferPointer, seed: borrowing SecretBytes
    ) throws(CryptoError) -> [UInt8] {
        try Ed25519SigningKey(seed: seed).sign(message)
    }

    /// Throws `invalidLength` unless the seed has 32 bytes.
    public static func sign(
        _ message: [UInt8], seed: borrowing SecretBytes
    ) throws(CryptoError) -> [UInt8] {
        try Ed25519SigningKey(seed: seed).sign(message)
    }

    /// Whether the bytes can be somebody's public key: the canonical form of a point of the group
    /// of prime order, in which all multiples of the base point are.
    ///
    /// Of 16 byte strings at random 15 are not.
    public static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == publicKeyBytes else { return false }
        Sodium.begin()
        return crypto_core_ed25519_is_valid_point(bytes) == 1
    }

    /// Whether the signature is the key's for the message.
    ///
    /// Strict: a wrong length, an `S` not below the group's order, a point of small order and a key
    /// that is not in its canonical form are all refused, so that a signature has one form only.
    public static func verify(
        _ signature: [UInt8], _ message: [UInt8], publicKey: [UInt8]
    ) -> Bool {
        guard signature.count == signatureBytes, publicKey.count == publicKeyBytes else {
            return false
        }
        Sodium.begin()
        return crypto_sign_verify_detached(
            signature, message, UInt64(message.count), publicKey) == 0
    }
}
