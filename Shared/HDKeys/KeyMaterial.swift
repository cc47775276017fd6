internal import Crypto
internal import Secrets

/// The two halves of an HMAC-SHA512 from which BIP-32 and SLIP-0010 take their keys.
struct KeyMaterial: ~Copyable {
    /// I_L, 32 bytes: a key, or what is added to the parent's.
    let key: SecretBytes
    /// I_R, 32 bytes.
    let chainCode: SecretBytes

    /// From a seed of 16 to 64 bytes, under the label of the curve.
    static func master(
        seed: borrowing SecretBytes, label: String
    ) throws(HDKeyError) -> KeyMaterial {
        guard 16...64 ~= seed.count else { throw .invalidSeed }
        return KeyMaterial(key: SecretBytes(copying: Array(label.utf8)), message: seed)
    }

    /// From a parent's private key.
    static func hardenedChild(
        _ number: UInt32, of parent: borrowing SecretBytes, chainCode: borrowing SecretBytes
    ) -> KeyMaterial {
        let message = SecretBytes(count: 1 + parent.count + 4) { target in
            parent.withBytes { put($0, at: 1, in: target) }
            bigEndian(number).withUnsafeBytes { put($0, at: target.count - 4, in: target) }
        }
        return KeyMaterial(key: chainCode, message: message)
    }

    /// From a parent's compressed public key.
    static func child(
        _ number: UInt32, of parent: [UInt8], chainCode: borrowing SecretBytes
    ) -> KeyMaterial {
        KeyMaterial(key: chainCode, message: SecretBytes(copying: parent + bigEndian(number)))
    }

    private init(key: borrowing SecretBytes, message: borrowing SecretBytes) {
        let digest = HMAC.sha512(key: key, message: message)
        self.key = digest.slice(0..<32)
        chainCode = digest.slice(32..<64)
    }
}
