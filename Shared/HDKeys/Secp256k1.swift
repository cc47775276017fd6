internal import CSecp256k1
public import Secrets

/// Keys and signatures on secp256k1, by libsecp256k1.
public enum Secp256k1 {
    public static let privateKeyByteCount = 32
    public static let publicKeyByteCount = 33
    public static let digestByteCount = 32

    /// An ECDSA signature with S in the lower half of the order (BIP-146).
    public struct Signature: Equatable, Sendable {
        /// R and S, 32 bytes each, most significant byte first.
        public let compact: [UInt8]
        /// 0 to 3: which of the possible public keys made it.
        public let recoveryID: UInt8

        public init(compact: [UInt8], recoveryID: UInt8) {
            self.compact = compact
            self.recoveryID = recoveryID
        }
    }

    /// Whether the bytes are a private key: 32 bytes, not zero, below the order of the curve.
    public static func isPrivateKey(_ key: borrowing SecretBytes) -> Bool {
        withOctets(of: key) { secp256k1_ec_seckey_verify(context.pointer, $0) == 1 }
    }

    /// The compressed public key, 33 bytes.
    public static func publicKey(of key: borrowing SecretBytes) throws(HDKeyError) -> [UInt8] {
        var point = secp256k1_pubkey()
        let made = withOctets(of: key) {
            secp256k1_ec_pubkey_create(context.pointer, &point, $0) == 1
        }
        guard made else { throw .invalidKey }
        return try compressed(point)
    }

    /// Signs a 32-byte digest with the nonce of RFC 6979.
    ///
    /// The same key and digest give the same signature. It is verified before it is handed out, so
    /// that a fault in the machine cannot give the key away.
    public static func sign(
        digest: [UInt8], key: borrowing SecretBytes
    ) throws(HDKeyError) -> Signature {
        guard digest.count == digestByteCount else { throw .invalidDigest }
        var signed = secp256k1_ecdsa_recoverable_signature()
        let made = withOctets(of: key) {
            secp256k1_ecdsa_sign_recoverable(
                context.pointer, &signed, digest, $0, secp256k1_nonce_function_rfc6979, nil) == 1
        }
        guard made else { throw .invalidKey }
        var compact = [UInt8](repeating: 0, count: 64)
        var recoveryID: Int32 = 0
        _ = secp256k1_ecdsa_recoverable_signature_serialize_compact(
            context.pointer, &compact, &recoveryID, &signed)
        let signature = Signature(compact: compact, recoveryID: UInt8(recoveryID))
        guard try recover(signature, digest: digest) == publicKey(of: key) else { throw .failed }
        return signature
    }

    /// Whether a compact signature is right for digest and public key; one with a high S is not.
    public static func verify(_ compact: [UInt8], digest: [UInt8], publicKey: [UInt8]) -> Bool {
        var signature = secp256k1_ecdsa_signature()
        var point = secp256k1_pubkey()
        guard compact.count == 64, digest.count == digestByteCount,
            secp256k1_ecdsa_signature_parse_compact(context.pointer, &signature, compact) == 1,
            secp256k1_ec_pubkey_parse(context.pointer, &point, publicKey, publicKey.count) == 1
        else { return false }
        return secp256k1_ecdsa_verify(context.pointer, &signature, digest, &point) == 1
    }

    /// The compressed public key that a signature was made with.
    public static func recover(
        _ signature: Signature, digest: [UInt8]
    ) throws(HDKeyError) -> [UInt8] {
        guard digest.count == digestByteCount else { throw .invalidDigest }
        var parsed = secp256k1_ecdsa_recoverable_signature()
        var point = secp256k1_pubkey()
        guard signature.compact.count == 64, signature.recoveryID < 4,
            secp256k1_ecdsa_recoverable_signature_parse_compact(
                context.pointer, &parsed, signature.compact, Int32(signature.recoveryID)) == 1,
            secp256k1_ecdsa_recover(context.pointer, &point, &parsed, digest) == 1
        else { throw .invalidSignature }
        return try compressed(point)
    }

    /// The sum of a private key and a tweak modulo the order.
    ///
    /// Throws ``HDKeyError/invalidKey`` if the tweak is not below the order or the sum is zero.
    static func sum(
        of key: borrowing SecretBytes, tweak: borrowing SecretBytes
    ) throws(HDKeyError) -> SecretBytes {
        var sum = key.copy()
        let added = sum.withMutableBytes { target in
            guard target.count == privateKeyByteCount,
                let start = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
            else { return false }
            return withOctets(of: tweak) {
                secp256k1_ec_seckey_tweak_add(context.pointer, start, $0) == 1
            }
        }
        guard added else { throw .invalidKey }
        return sum
    }

    private static func compressed(_ point: secp256k1_pubkey) throws(HDKeyError) -> [UInt8] {
        var point = point
        var bytes = [UInt8](repeating: 0, count: publicKeyByteCount)
        var count = bytes.count
        let made = secp256k1_ec_pubkey_serialize(
            context.pointer, &bytes, &count, &point, UInt32(SECP256K1_EC_COMPRESSED))
        guard made == 1, count == publicKeyByteCount else { throw .failed }
        return bytes
    }

    /// The answer of the library for 32 bytes; false for any other number of them.
    private static func withOctets(
        of key: borrowing SecretBytes, _ body: (UnsafePointer<UInt8>) -> Bool
    ) -> Bool {
        key.withBytes { bytes in
            guard bytes.count == privateKeyByteCount,
                let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            else { return false }
            return body(start)
        }
    }

    private static let context = Context()

    /// The library's context, blinded once with fresh randomness against side channels, and only
    /// read from then on: any thread may use it.
    private final class Context: @unchecked Sendable {
        let pointer: OpaquePointer

        init() {
            pointer = secp256k1_context_create(UInt32(SECP256K1_CONTEXT_NONE))
            let blind = KernelRandom().secret(32)
            let pointer = pointer
            let isBlinded = withOctets(of: blind) { secp256k1_context_randomize(pointer, $0) == 1 }
            precondition(isBlinded, "libsecp256k1 takes any 32 bytes to blind its context")
        }
    }
}
