internal import CNettle
internal import COpenSSL
public import Secrets

/// PBKDF2 (RFC 8018 §5.2) over HMAC-SHA256 and HMAC-SHA512.
///
/// The passcode's derivation is the one that takes a third of a second on purpose; Nettle makes it
/// two to three times as fast as OpenSSL 3.0 does, which buys that many more iterations.
///
/// The libraries leave working values on the stack and in vector registers, which the dynamic
/// linker may later save to the stack. So each derivation is followed by one over public values,
/// which takes the same places, and by zeros over the stack.
public enum PBKDF2 {
    /// By Nettle; `iterations` and `count` are at least one, else `invalidParameters`.
    public static func sha256(
        password: borrowing SecretBytes, salt: [UInt8], iterations: Int, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard iterations > 0, let rounds = UInt32(exactly: iterations), count > 0 else {
            throw .invalidParameters
        }
        let key = deriveSHA256(password, salt, rounds, count)
        _ = deriveSHA256(SecretBytes(count: password.count), salt, 1, count)
        coffer_overwrite_stack()
        return key
    }

    /// Over OpenSSL's SHA-512, with a secret salt: in BIP-39 it holds the passphrase.
    ///
    /// `iterations` and `count` are at least one, else `invalidParameters`.
    public static func sha512(
        password: borrowing SecretBytes, salt: borrowing SecretBytes, iterations: Int, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard iterations > 0, let rounds = UInt32(exactly: iterations), count > 0 else {
            throw .invalidParameters
        }
        let key = deriveSHA512(password, salt, rounds, count)
        _ = deriveSHA512(
            SecretBytes(count: password.count), SecretBytes(count: salt.count), 1, count)
        coffer_overwrite_stack()
        return key
    }

    /// Over OpenSSL's SHA-512, with a public salt.
    public static func sha512(
        password: borrowing SecretBytes, salt: [UInt8], iterations: Int, count: Int
    ) throws(CryptoError) -> SecretBytes {
        try sha512(
            password: password, salt: SecretBytes(copying: salt), iterations: iterations,
            count: count)
    }

    private static func deriveSHA256(
        _ password: borrowing SecretBytes, _ salt: [UInt8], _ rounds: UInt32, _ count: Int
    ) -> SecretBytes {
        var state = SecretBytes(count: MemoryLayout<hmac_sha256_ctx>.size)
        return SecretBytes(count: count) { result in
            state.withMutableBytes { state in
                password.withBytes { password in
                    coffer_pbkdf2_hmac_sha256(
                        state.baseAddress?.assumingMemoryBound(to: hmac_sha256_ctx.self),
                        password.count, password.octets, rounds, salt.count, salt,
                        result.count, result.octets)
                }
            }
        }
    }

    private static func deriveSHA512(
        _ password: borrowing SecretBytes, _ salt: borrowing SecretBytes, _ rounds: UInt32,
        _ count: Int
    ) -> SecretBytes {
        var state = SecretBytes(count: MemoryLayout<coffer_pbkdf2_sha512>.size)
        return SecretBytes(count: count) { result in
            state.withMutableBytes { state in
                password.withBytes { password in
                    salt.withBytes { salt in
                        coffer_pbkdf2_hmac_sha512(
                            state.baseAddress?.assumingMemoryBound(to: coffer_pbkdf2_sha512.self),
                            password.baseAddress, password.count, salt.baseAddress, salt.count,
                            rounds, result.octets, result.count)
                    }
                }
            }
        }
    }
}
