/// Why a primitive gave no result.
public enum CryptoError: Error, Equatable, Sendable {
    /// The key, the associated data or the bytes are not the ones that were sealed; which of them
    /// is not told.
    case authenticationFailed
    /// A key, nonce, signature or message has a length that the primitive does not take.
    case invalidLength
    /// A number such as a count of iterations is out of its range.
    case invalidParameters
    /// The peer's public key gives a shared secret that anyone knows.
    case lowOrderPoint
    /// The library refused for a reason of its own, such as a lack of memory.
    case failed
}
