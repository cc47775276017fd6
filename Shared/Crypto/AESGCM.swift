internal import COpenSSL
public import Secrets

/// AES-256-GCM (NIST SP 800-38D) with a 12-byte nonce and a 16-byte tag.
///
/// A box is `nonce ‖ ciphertext ‖ tag`. A nonce must never serve twice under one key.
public enum AESGCM {
    public static let keyBytes = 32
    public static let nonceBytes = 12
    public static let tagBytes = 16
    /// What a box is longer than its plaintext, in bytes.
    public static let overheadBytes = nonceBytes + tagBytes

    /// Encrypts, and binds the box to the associated data, which is not in it.
    ///
    /// Throws `invalidLength` for a key or nonce of another length, or a text beyond 2 GiB.
    public static func seal(
        _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, nonce: [UInt8], aad: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        guard nonce.count == nonceBytes, let count = Int32(exactly: plaintext.count) else {
            throw .invalidLength
        }
        let context = try start(.seal, key: key, nonce: nonce, aad: aad)
        var tag = [UInt8](repeating: 0, count: tagBytes)
        var box = [UInt8](repeating: 0, count: plaintext.count)
        let sealed = plaintext.withBytes { plaintext in
            let source = plaintext.octets
            var written: Int32 = 0
            return
                (count == 0
                || EVP_CipherUpdate(context.pointer, &box, &written, source, count) == 1)
                && EVP_CipherFinal_ex(context.pointer, &tag, &written) == 1
                && EVP_CIPHER_CTX_ctrl(
                    context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), &tag) == 1
        }
        guard sealed else { throw .failed }
        return nonce + box + tag
    }

    /// Decrypts a box, if nothing about it, the key or the associated data was changed.
    ///
    /// Throws `invalidLength` for a key of another length or a box too short to be one, and
    /// `authenticationFailed` without detail for everything else.
    public static func open(
        _ combined: [UInt8], key: borrowing SecretBytes, aad: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        let textBytes = combined.count - overheadBytes
        guard textBytes >= 0, let count = Int32(exactly: textBytes) else { throw .invalidLength }
        let nonce = Array(combined[..<nonceBytes])
        let text = Array(combined[nonceBytes..<nonceBytes + textBytes])
        var tag = Array(combined[(nonceBytes + textBytes)...])
        let context = try start(.open, key: key, nonce: nonce, aad: aad)
        return try SecretBytes(count: textBytes) { plaintext throws(CryptoError) in
            let target = plaintext.octets
            var written: Int32 = 0
            var rest = [UInt8](repeating: 0, count: tagBytes)
            guard
                count == 0 || EVP_CipherUpdate(context.pointer, target, &written, text, count) == 1,
                EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), &tag)
                    == 1,
                EVP_CipherFinal_ex(context.pointer, &rest, &written) == 1
            else { throw .authenticationFailed }
        }
    }

    private enum Direction: Int32 {
        case open = 0
        case seal = 1
    }

    /// A cipher that has its key and nonce, and has read the associated data.
    private static func start(
        _ direction: Direction, key: borrowing SecretBytes, nonce: [UInt8], aad: [UInt8]
    ) throws(CryptoError) -> CipherContext {
        guard key.count == keyBytes, let aadCount = Int32(exactly: aad.count) else {
            throw .invalidLength
        }
        let context = try CipherContext()
        let started = key.withBytes { key in
            let bytes = key.octets
            let cipher = EVP_aes_256_gcm()
            return EVP_CipherInit_ex(context.pointer, cipher, nil, bytes, nonce, direction.rawValue)
                == 1
        }
        var read: Int32 = 0
        guard started,
            aad.isEmpty || EVP_CipherUpdate(context.pointer, nil, &read, aad, aadCount) == 1
        else { throw .failed }
        return context
    }
}
