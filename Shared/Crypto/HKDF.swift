internal import COpenSSL
public import Secrets

/// HKDF (RFC 5869), extract and expand, over SHA-256.
public enum HKDF {
    /// The longest `info` in bytes: the room that OpenSSL 3.0 has for it.
    public static let infoBytesMax = 1024
    /// The longest output in bytes (RFC 5869 §2.3).
    public static let outputBytesMax = 255 * 32

    /// Derives `count` bytes; an empty salt counts as 32 zero bytes.
    public static func sha256(
        key: borrowing SecretBytes, salt: [UInt8], info: [UInt8], count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard (1...outputBytesMax).contains(count), info.count <= infoBytesMax else {
            throw .invalidLength
        }
        let context = try KDFContext("HKDF")
        return try SecretBytes(count: count) { result throws(CryptoError) in
            let derived = key.withBytes { key in
                coffer_hkdf_sha256(
                    context.pointer, key.octets, key.count, salt, salt.count, info, info.count,
                    result.octets, result.count) == 1
            }
            guard derived else { throw .failed }
        }
    }
}
