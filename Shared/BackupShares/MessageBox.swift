internal import Crypto
public import Secrets

/// Messages of tde2e (tdlib): `encrypt_message_for_one` and the readers of both of its forms.
///
/// A message is an identity of 16 bytes and AES-256-CBC over a prefix and the payload. The identity
/// is the first half of a code over both, and key and vector of the cipher come from it. The prefix
/// says its own length in its first byte and is random after that. There is no version, and the
/// sender's public key has to come by other means.
public enum MessageBox {
    /// Longer messages are neither made nor read.
    public static let messageBytesMax = 65_536
    /// Bytes of the header that each reader of a message for many has.
    public static let headerBytes = 32

    /// A message with the payload, which may be empty.
    ///
    /// Throws ``ShareError/malformed`` for a payload that is too long.
    public static func seal(
        _ payload: borrowing SecretBytes, key: borrowing MessageKey, random: some RandomSource
    ) throws(ShareError) -> [UInt8] {
        try seal(payload, key: key) { random.fill($0) }
    }

    /// The payload of a message.
    ///
    /// Throws ``ShareError/malformed`` for a length or, in an authentic message, a prefix that
    /// cannot be, and ``ShareError/authenticationFailed`` for a damaged message or another key.
    public static func open(
        _ message: [UInt8], key: borrowing MessageKey
    ) throws(ShareError) -> SecretBytes {
        try read(message, key: key).payload()
    }

    /// The payload of a message from a peer, known by the public key.
    public static func open(
        _ message: [UInt8], privateKey: borrowing SecretBytes, from peer: [UInt8]
    ) throws(ShareError) -> SecretBytes {
        try checkShape(message)
        return try open(message, key: MessageKey(privateKey: privateKey, publicKey: peer))
    }

    /// The payload of a message for many, by the header that one of them was given.
    ///
    /// The header holds the message's key under one that is shared with the sender. It has no code
    /// of its own: a wrong one shows as ``ShareError/authenticationFailed`` of the message.
    public static func open(
        _ message: [UInt8], header: [UInt8], key: borrowing MessageKey
    ) throws(ShareError) -> SecretBytes {
        try checkShape(message)
        return try open(message, key: MessageKey(oneTimeKey(header, of: message, key: key)))
    }
}

extension MessageBox {
    private static let identityBytes = 16
    private static let prefixBytesMin = 16

    /// The rest of the prefix, of at least 15 bytes, is written by the closure.
    ///
    /// Extra data is covered by the code and not carried; the messages have none.
    static func seal(
        _ payload: borrowing SecretBytes, key: borrowing MessageKey, extra: [UInt8] = [],
        fillingPrefix: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(ShareError) -> [UInt8] {
        let block = AESCBC.blockBytes
        let prefixBytes = prefixBytesMin + (block - payload.count % block) % block
        guard identityBytes + prefixBytes + payload.count <= messageBytesMax else {
            throw .malformed
        }
        let plaintext = SecretBytes(count: prefixBytes + payload.count) { target in
            target[0] = UInt8(prefixBytes)
            fillingPrefix(UnsafeMutableRawBufferPointer(rebasing: target[1..<prefixBytes]))
            payload.withBytes { tail(of: target, from: prefixBytes).copyMemory(from: $0) }
        }
        let keys = Keys(key)
        let identity = keys.identity(of: plaintext, extra: extra)
        let cipher = CipherKey(keys.encryption, identity)
        do throws(CryptoError) {
            return try identity + AESCBC.encrypt(plaintext, key: cipher.key, iv: cipher.iv)
        } catch {
            throw .failed
        }
    }

    static func read(
        _ message: [UInt8], key: borrowing MessageKey, extra: [UInt8] = []
    ) throws(ShareError) -> Plaintext {
        try checkShape(message)
        let identity = Array(message[..<identityBytes])
        let keys = Keys(key)
        let bytes = try decrypt(
            Array(message[identityBytes...]), CipherKey(keys.encryption, identity))
        guard ConstantTime.equal(keys.identity(of: bytes, extra: extra), identity) else {
            throw .authenticationFailed
        }
        let prefixBytes = bytes.withBytes { Int($0[0]) }
        guard prefixBytesMin...bytes.count ~= prefixBytes else { throw .malformed }
        return Plaintext(bytes: bytes, prefixBytes: prefixBytes)
    }

    static func oneTimeKey(
        _ header: [UInt8], of message: [UInt8], key: borrowing MessageKey
    ) throws(ShareError) -> SecretBytes {
        guard header.count == headerBytes, message.count >= identityBytes else { throw .malformed }
        let headerKey = HMAC.sha512(key: key.bytes, message: Array("tde2e_encrypt_header".utf8))
        return try decrypt(
            header, CipherKey(headerKey.slice(0..<32), Array(message[..<identityBytes])))
    }

    private static func checkShape(_ message: [UInt8]) throws(ShareError) {
        let block = AESCBC.blockBytes
        guard identityBytes + block...messageBytesMax ~= message.count, message.count % block == 0
        else { throw .malformed }
    }

    private static func decrypt(
        _ ciphertext: [UInt8], _ cipher: borrowing CipherKey
    ) throws(ShareError) -> SecretBytes {
        do throws(CryptoError) {
            return try AESCBC.decrypt(ciphertext, key: cipher.key, iv: cipher.iv)
        } catch {
            throw .failed
        }
    }
}

extension MessageBox {
    /// An authentic message, decrypted.
    struct Plaintext: ~Copyable {
        let bytes: SecretBytes
        /// At least 16 and no more than there are bytes.
        let prefixBytes: Int

        borrowing func payload() -> SecretBytes { bytes.slice(prefixBytes..<bytes.count) }

        /// What the sender wrote into the prefix after its length.
        borrowing func restOfPrefix() -> SecretBytes { bytes.slice(1..<prefixBytes) }
    }

    /// The two keys of a message key.
    private struct Keys: ~Copyable {
        let encryption: SecretBytes
        let authentication: SecretBytes

        init(_ key: borrowing MessageKey) {
            let both = HMAC.sha512(key: key.bytes, message: Array("tde2e_encrypt_data".utf8))
            encryption = both.slice(0..<32)
            authentication = both.slice(32..<64)
        }

        /// What a message is known by: a code over prefix, payload, extra data and the length of
        /// that.
        borrowing func identity(of plaintext: borrowing SecretBytes, extra: [UInt8]) -> [UInt8] {
            let extraCount = UInt32(extra.count)
            let ending = SecretBytes(
                copying: extra + (0..<4).map { UInt8(truncatingIfNeeded: extraCount >> ($0 * 8)) })
            let code = plaintext.withBytes { plaintext in
                ending.withBytes { ending in
                    HMAC.sha256(key: authentication, parts: [plaintext, ending])
                }
            }
            return code.withBytes { Array($0[..<identityBytes]) }
        }
    }

    /// Key and vector for one message, from its identity.
    private struct CipherKey: ~Copyable {
        let key: SecretBytes
        let iv: SecretBytes

        init(_ encryption: borrowing SecretBytes, _ identity: [UInt8]) {
            let both = HMAC.sha512(key: encryption, message: identity)
            key = both.slice(0..<AESCBC.keyBytes)
            iv = both.slice(AESCBC.keyBytes..<(AESCBC.keyBytes + AESCBC.blockBytes))
        }
    }
}
