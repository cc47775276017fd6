internal import Crypto
internal import Secrets

/// A key under a secret that only a token can give back.
///
/// `what the token needs for that ‖ AES-256-GCM box of 60 bytes`
enum SealedCopy {
    private static let label = Array("coffer.device.seal.v1\0".utf8)
    private static let boxBytes = KeyCopies.keyBytes + AESGCM.overheadBytes

    /// - Parameters:
    ///   - ticket: what the token gives the secret for.
    ///   - binding: what the copy is of; without the same it does not open.
    static func seal(
        _ key: borrowing SecretBytes, under secret: borrowing SecretBytes, ticket: [UInt8],
        binding: [UInt8], nonce: [UInt8]
    ) throws(HardwareTokenError) -> [UInt8] {
        do throws(CryptoError) {
            let wrapping = try wrappingKey(secret, ticket, binding)
            return ticket + (try AESGCM.seal(key, key: wrapping, nonce: nonce, aad: binding))
        } catch {
            throw .unsupported
        }
    }

    /// What to give the token; nil for what is no sealed copy.
    static func ticket(of sealed: [UInt8]) -> [UInt8]? {
        sealed.count > boxBytes ? Array(sealed.dropLast(boxBytes)) : nil
    }

    static func open(
        _ sealed: [UInt8], under secret: borrowing SecretBytes, binding: [UInt8]
    ) throws(HardwareTokenError) -> SecretBytes {
        guard let ticket = ticket(of: sealed) else { throw .mismatch }
        do throws(CryptoError) {
            let wrapping = try wrappingKey(secret, ticket, binding)
            return try AESGCM.open(
                Array(sealed.suffix(boxBytes)), key: wrapping, aad: binding)
        } catch {
            throw .mismatch
        }
    }

    private static func wrappingKey(
        _ secret: borrowing SecretBytes, _ ticket: [UInt8], _ binding: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        try HKDF.sha256(
            key: secret, salt: ticket, info: label + binding, count: AESGCM.keyBytes)
    }
}
