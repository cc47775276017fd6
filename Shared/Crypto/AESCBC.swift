internal import COpenSSL
public import Secrets

/// AES-256-CBC (NIST SP 800-38A) without padding, for formats that authenticate by other means.
///
/// It authenticates nothing: a caller compares a code over the plaintext before it believes it.
public enum AESCBC {
    public static let keyBytes = 32
    public static let blockBytes = 16

    /// Throws `invalidLength` unless the text is whole blocks, the key 32 and the vector 16 bytes.
    public static func encrypt(
        _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, iv: borrowing SecretBytes
    ) throws(CryptoError) -> [UInt8] {
        let ciphertext = try plaintext.withBytes { source throws(CryptoError) in
            try run(1, source, key: key, iv: iv)
        }
        return ciphertext.withBytes { Array($0) }
    }

    /// Throws `invalidLength` unless the text is whole blocks, the key 32 and the vector 16 bytes.
    public static func decrypt(
        _ ciphertext: [UInt8], key: borrowing SecretBytes, iv: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let source = SecretBytes(copying: ciphertext)
        return try source.withBytes { source throws(CryptoError) in
            try run(0, source, key: key, iv: iv)
        }
    }

    private static func run(
        _ direction: Int32, _ source: UnsafeRawBufferPointer, key: borrowing SecretBytes,
        iv: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        guard key.count == keyBytes, iv.count == blockBytes, source.count % blockBytes == 0,
            let count = Int32(exactly: source.count)
        else { throw .invalidLength }
        let context = try CipherContext()
        let started = key.withBytes { key in
            iv.withBytes { iv in
                EVP_CipherInit_ex(
                    context.pointer, EVP_aes_256_cbc(), nil,
                    key.octets,
                    iv.octets, direction) == 1
                    && EVP_CIPHER_CTX_set_padding(context.pointer, 0) == 1
            }
        }
        guard started else { throw .failed }
        return try SecretBytes(count: source.count) { result throws(CryptoError) in
            let bytes = source.octets
            let target = result.octets
            var written: Int32 = 0
            guard
                count == 0
                    || EVP_CipherUpdate(context.pointer, target, &written, bytes, count) == 1,
                written == count
            else { throw .failed }
        }
    }
}
