internal import COpenSSL
public import Secrets

/// Key agreement between Ed25519 keys, by the map from the Edwards to the Montgomery curve
/// (RFC 7748 §4.1).
public enum EdwardsAgreement {
    /// The X25519 scalar of a seed: the first half of its SHA-512, clamped (RFC 8032 §5.1.5).
    ///
    /// Throws `invalidLength` unless the seed has 32 bytes.
    public static func scalar(seed: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        guard seed.count == Ed25519.seedBytes else { throw .invalidLength }
        var scalar = SHA512.digest(of: seed).slice(0..<X25519.keyBytes)
        scalar.withMutableBytes { bytes in
            bytes[0] &= 248
            bytes[31] = bytes[31] & 127 | 64
        }
        return scalar
    }

    /// The X25519 coordinate `u = (1 + y) / (1 − y)` of a public key, modulo 2^255 − 19.
    ///
    /// The sign bit is ignored, a `y` beyond the modulus is reduced, and nothing checks that the
    /// point is on the curve. Throws `lowOrderPoint` for `y = 1`, which has no coordinate, and
    /// `invalidLength` unless the key has 32 bytes.
    public static func coordinate(publicKey: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard publicKey.count == Ed25519.publicKeyBytes else { throw .invalidLength }
        var littleEndian = publicKey
        littleEndian[31] &= 127
        let prime = try Number(bytes: prime)
        let one = try Number(bytes: [1])
        let y = try Number(bytes: littleEndian)
        let above = try Number()
        let below = try Number()
        let inverse = try Number()
        let scratch = try Scratch()
        guard
            BN_mod_add(above.pointer, one.pointer, y.pointer, prime.pointer, scratch.pointer) == 1,
            BN_mod_sub(below.pointer, one.pointer, y.pointer, prime.pointer, scratch.pointer) == 1
        else { throw .failed }
        guard BN_is_zero(below.pointer) == 0 else { throw .lowOrderPoint }
        var u = [UInt8](repeating: 0, count: X25519.keyBytes)
        let result = try Number()
        guard
            BN_mod_inverse(inverse.pointer, below.pointer, prime.pointer, scratch.pointer) != nil,
            BN_mod_mul(
                result.pointer, above.pointer, inverse.pointer, prime.pointer, scratch.pointer)
                == 1,
            BN_bn2lebinpad(result.pointer, &u, Int32(u.count)) == Int32(u.count)
        else { throw .failed }
        return u
    }

    /// A number of OpenSSL's; only public values are held in one.
    private struct Number: ~Copyable {
        let pointer: OpaquePointer

        init() throws(CryptoError) {
            guard let pointer = BN_new() else { throw .failed }
            self.pointer = pointer
        }

        init(bytes: [UInt8]) throws(CryptoError) {
            guard let pointer = BN_lebin2bn(bytes, Int32(bytes.count), nil) else { throw .failed }
            self.pointer = pointer
        }

        deinit { BN_free(pointer) }
    }

    /// Room for OpenSSL's intermediate results.
    private struct Scratch: ~Copyable {
        let pointer: OpaquePointer

        init() throws(CryptoError) {
            guard let pointer = BN_CTX_new() else { throw .failed }
            self.pointer = pointer
        }

        deinit { BN_CTX_free(pointer) }
    }

    /// 2^255 − 19, little-endian.
    private static let prime = [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
}
