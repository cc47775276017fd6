internal import CSodium
public import Secrets

/// A signing key that is expanded once and signs many times.
public struct Ed25519SigningKey: ~Copyable, Sendable {
    /// The 32 bytes that verify what this key signs.
    public let publicKey: [UInt8]
    private let expanded: SecretBytes

    /// Throws `invalidLength` unless the seed has 32 bytes.
    public init(seed: borrowing SecretBytes) throws(CryptoError) {
        guard seed.count == Ed25519.seedBytes else { throw .invalidLength }
        Sodium.begin()
        var publicKey = [UInt8](repeating: 0, count: Ed25519.publicKeyBytes)
        var made = false
        let expanded = SecretBytes(count: Int(crypto_sign_SECRETKEYBYTES)) { expanded in
            seed.withBytes { seed in
                guard let target = expanded.octets, let source = seed.octets else { return }
                made = crypto_sign_seed_keypair(&publicKey, target, source) == 0
            }
        }
        guard made else { throw .failed }
        self.expanded = expanded
        self.publicKey = publicKey
    }

    /// The 64 bytes of the one signature that this key has for the message.
    public borrowing func sign(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        expanded.withBytes { Self.signature(of: message, by: $0) }
    }

    /// The 64 bytes of the one signature that this key has for the message.
    public borrowing func sign(_ message: [UInt8]) -> [UInt8] {
        expanded.withBytes { key in message.withUnsafeBytes { Self.signature(of: $0, by: key) } }
    }

    private static func signature(
        of message: UnsafeRawBufferPointer, by key: UnsafeRawBufferPointer
    ) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Ed25519.signatureBytes)
        let length = UInt64(message.count)
        guard let octets = key.octets,
            crypto_sign_detached(&signature, nil, message.octets, length, octets) == 0
        else { fatalError("libsodium does not sign") }
        return signature
    }
}
