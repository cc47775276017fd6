internal import COpenSSL
public import Secrets

/// HMAC (RFC 2104) over SHA-256 and SHA-512.
///
/// Every result is a secret. A failure is possible only where the machine has no memory, and then
/// the process ends.
public enum HMAC {
    /// Over a message that is given in pieces, as if they were joined.
    public static func sha256(
        key: borrowing SecretBytes, parts: [UnsafeRawBufferPointer]
    ) -> SecretBytes {
        code(.sha256, key, parts)
    }

    public static func sha256(key: borrowing SecretBytes, message: [UInt8]) -> SecretBytes {
        code(.sha256, key, message)
    }

    /// Over a public prefix, such as a domain label, and a secret after it.
    public static func sha256(
        key: borrowing SecretBytes, prefix: [UInt8] = [], message: borrowing SecretBytes
    ) -> SecretBytes {
        code(.sha256, key, prefix, message)
    }

    /// Over a message that is given in pieces, as if they were joined.
    public static func sha512(
        key: borrowing SecretBytes, parts: [UnsafeRawBufferPointer]
    ) -> SecretBytes {
        code(.sha512, key, parts)
    }

    public static func sha512(key: borrowing SecretBytes, message: [UInt8]) -> SecretBytes {
        code(.sha512, key, message)
    }

    /// Over a public prefix, such as a domain label, and a secret after it.
    public static func sha512(
        key: borrowing SecretBytes, prefix: [UInt8] = [], message: borrowing SecretBytes
    ) -> SecretBytes {
        code(.sha512, key, prefix, message)
    }

    private static func code(
        _ hash: Hash, _ key: borrowing SecretBytes, _ message: [UInt8]
    ) -> SecretBytes {
        var result = SecretBytes(count: hash.byteCount)
        message.withUnsafeBytes { write(hash, key, [$0], into: &result) }
        return result
    }

    private static func code(
        _ hash: Hash, _ key: borrowing SecretBytes, _ prefix: [UInt8],
        _ message: borrowing SecretBytes
    ) -> SecretBytes {
        var result = SecretBytes(count: hash.byteCount)
        message.withBytes { secret in
            prefix.withUnsafeBytes { write(hash, key, [$0, secret], into: &result) }
        }
        return result
    }

    private static func code(
        _ hash: Hash, _ key: borrowing SecretBytes, _ parts: [UnsafeRawBufferPointer]
    ) -> SecretBytes {
        var result = SecretBytes(count: hash.byteCount)
        write(hash, key, parts, into: &result)
        return result
    }

    private static func write(
        _ hash: Hash, _ key: borrowing SecretBytes, _ parts: [UnsafeRawBufferPointer],
        into result: inout SecretBytes
    ) {
        do throws(CryptoError) {
            let context = try MACContext("HMAC")
            try start(context, hash, key)
            for part in parts where !part.isEmpty {
                let bytes = part.octets
                guard EVP_MAC_update(context.pointer, bytes, part.count) == 1 else { throw .failed }
            }
            let written = result.withMutableBytes { target in
                let bytes = target.octets
                return EVP_MAC_final(context.pointer, bytes, nil, target.count) == 1
            }
            guard written else { throw .failed }
        } catch {
            fatalError("OpenSSL does not authenticate")
        }
    }

    private static func start(
        _ context: borrowing MACContext, _ hash: Hash, _ key: borrowing SecretBytes
    ) throws(CryptoError) {
        let started = key.withBytes { key in
            coffer_mac_start(context.pointer, hash.name, key.octets, key.count) == 1
        }
        guard started else { throw .failed }
    }
}
