/// Why a key was not derived or used.
public enum HDKeyError: Error, Equatable, Sendable {
    /// A seed is 16 to 64 bytes (BIP-32).
    case invalidSeed
    /// Not a private key of the curve: zero, not below the order, or not 32 bytes.
    ///
    /// For a derived key BIP-32 says to go on with the next index; the chance is below 1 in 2^127.
    case invalidKey
    /// Not a path such as `m/44'/0'/0'/0/0`.
    case malformedPath
    /// More levels than this library goes down.
    case pathTooDeep
    /// Ed25519 has hardened children only (SLIP-0010).
    case notHardened
    /// A digest to sign is 32 bytes.
    case invalidDigest
    /// No public key made this signature.
    case invalidSignature
    /// The cryptographic library failed.
    case failed
}
