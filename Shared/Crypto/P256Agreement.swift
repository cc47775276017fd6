internal import COpenSSL
public import Secrets

/// ECDH on P-256 with a key that serves once (SP 800-56A, section 6.2): for what only the holder of
/// another key can open.
public enum P256Agreement {
    /// An uncompressed point, 0x04 before both coordinates.
    public static let pointBytes = 65
    public static let secretBytes = 32

    /// What a fresh key agrees on with a public one.
    public struct Agreed: ~Copyable {
        /// The fresh key's point, for the other side.
        public let point: [UInt8]
        /// The x-coordinate of the common point.
        public let secret: SecretBytes
    }

    /// Makes a key, agrees with `peer`, and forgets the key.
    ///
    /// Throws `invalidLength` for another length, and `failed` for what is no point of the curve.
    public static func agree(with peer: [UInt8]) throws(CryptoError) -> Agreed {
        guard peer.count == pointBytes else { throw .invalidLength }
        let own = try freshKey()
        let other = try KeyHandle(taking: EVP_PKEY_new())
        guard EVP_PKEY_copy_parameters(other.pointer, own.pointer) == 1,
            EVP_PKEY_set1_encoded_public_key(other.pointer, peer, peer.count) == 1
        else { throw .failed }
        let context = try AgreementContext(own)
        // Setting the peer checks that the point is on the curve.
        guard EVP_PKEY_derive_init(context.pointer) == 1,
            EVP_PKEY_derive_set_peer(context.pointer, other.pointer) == 1
        else { throw .failed }
        let secret = try SecretBytes(count: secretBytes) { result throws(CryptoError) in
            var count = result.count
            guard EVP_PKEY_derive(context.pointer, result.octets, &count) == 1,
                count == secretBytes
            else { throw .failed }
        }
        return Agreed(point: try point(of: own), secret: secret)
    }

    private static func freshKey() throws(CryptoError) -> KeyHandle {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw .failed }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_keygen(context, &key) == 1
        else { throw .failed }
        return try KeyHandle(taking: key)
    }

    private static func point(of key: borrowing KeyHandle) throws(CryptoError) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(key.pointer, &bytes)
        defer { CRYPTO_free(bytes, nil, 0) }
        guard let bytes, count == pointBytes else { throw .failed }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
