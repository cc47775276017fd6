internal import COpenSSL
public import Secrets

/// X25519 key agreement (RFC 7748 §5).
public enum X25519 {
    public static let keyBytes = 32

    /// The public coordinate of a secret scalar, which is clamped first.
    ///
    /// Throws `invalidLength` unless the scalar has 32 bytes.
    public static func publicKey(_ secret: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        let key = try privateKey(secret)
        var publicKey = [UInt8](repeating: 0, count: keyBytes)
        var count = keyBytes
        guard EVP_PKEY_get_raw_public_key(key.pointer, &publicKey, &count) == 1,
            count == keyBytes
        else { throw .failed }
        return publicKey
    }

    /// What both sides get from their own scalar and the other's coordinate.
    ///
    /// The coordinate's top bit is ignored. Throws `lowOrderPoint` where the result is zero, which
    /// is what a peer sends who wants a secret that anyone knows; `invalidLength` for other
    /// lengths.
    public static func sharedSecret(
        _ secret: borrowing SecretBytes, with peer: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        guard peer.count == keyBytes else { throw .invalidLength }
        let own = try privateKey(secret)
        let other = try KeyHandle(
            taking: EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, peer, peer.count))
        let context = try AgreementContext(own)
        guard EVP_PKEY_derive_init(context.pointer) == 1,
            EVP_PKEY_derive_set_peer(context.pointer, other.pointer) == 1
        else { throw .failed }
        let shared = try SecretBytes(count: keyBytes) { result throws(CryptoError) in
            let target = result.octets
            var count = result.count
            // With both keys in place, the one thing that OpenSSL refuses is a zero result.
            guard EVP_PKEY_derive(context.pointer, target, &count) == 1, count == keyBytes else {
                throw .lowOrderPoint
            }
        }
        guard !shared.isEqual(to: SecretBytes(count: keyBytes)) else { throw .lowOrderPoint }
        return shared
    }

    private static func privateKey(
        _ secret: borrowing SecretBytes
    ) throws(CryptoError) -> KeyHandle {
        guard secret.count == keyBytes else { throw .invalidLength }
        return try secret.withBytes { bytes throws(CryptoError) in
            try KeyHandle(
                taking: EVP_PKEY_new_raw_private_key(
                    EVP_PKEY_X25519, nil, bytes.octets,
                    bytes.count))
        }
    }
}
