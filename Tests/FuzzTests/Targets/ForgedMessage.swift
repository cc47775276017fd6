import BackupShares
import Crypto
import Secrets

/// Messages that are authentic and hold what their sender likes, which `MessageBox.seal` does not
/// allow: a fuzzer gets past the code with them.
///
/// Written apart from the box; the steps are those of `docs/formats.md`.
enum ForgedMessage {
    static let seed = [UInt8](repeating: 7, count: 32)
    static let ephemeralSeed = [UInt8](repeating: 9, count: 32)
    /// The public keys of the two.
    static let recipient = publicKey(seed)
    static let ephemeralKey = publicKey(ephemeralSeed)

    /// The key that the two agree on.
    static func key() -> SecretBytes { agreed.bytes.copy() }

    private static let agreed = must {
        let agreed = try X25519.sharedSecret(
            EdwardsAgreement.scalar(seed: SecretBytes(copying: ephemeralSeed)),
            with: EdwardsAgreement.coordinate(publicKey: recipient))
        let label = SecretBytes(copying: Array("tde2e_shared_secret".utf8))
        return SharedSecret(HMAC.sha512(key: label, message: agreed).slice(0..<32))
    }

    static func messageKey() -> MessageKey? { try? MessageKey(key()) }

    /// Seals a plaintext of whole blocks, its prefix too.
    static func sealing(_ plaintext: [UInt8]) -> [UInt8] {
        let both = HMAC.sha512(key: key(), message: Array("tde2e_encrypt_data".utf8))
        let code = HMAC.sha256(key: both.slice(32..<64), message: plaintext + [0, 0, 0, 0])
        let identity = code.withBytes { Array($0[..<16]) }
        let cipher = HMAC.sha512(key: both.slice(0..<32), message: identity)
        return must {
            try identity
                + AESCBC.encrypt(
                    SecretBytes(copying: plaintext), key: cipher.slice(0..<32),
                    iv: cipher.slice(32..<48))
        }
    }

    /// Bytes with zeros after them up to whole blocks, one at least.
    static func blocks(_ bytes: [UInt8]) -> [UInt8] {
        let missing = bytes.isEmpty ? 16 : (16 - bytes.count % 16) % 16
        return bytes + [UInt8](repeating: 0, count: missing)
    }

    private static func publicKey(_ seed: [UInt8]) -> [UInt8] {
        must { try Ed25519.publicKey(seed: SecretBytes(copying: seed)) }
    }
}

/// What cannot fail but by a fault of the cryptographic library.
func must<T: ~Copyable>(_ body: () throws -> T) -> T {
    do {
        return try body()
    } catch {
        fatalError("the library failed")
    }
}
