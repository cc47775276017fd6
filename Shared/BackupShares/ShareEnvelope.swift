internal import Crypto
public import Secrets

/// A share on its way to one recipient: an ephemeral public key, used for nothing else, and a
/// message under what it shares with the recipient's.
public struct ShareEnvelope: Equatable, Sendable {
    /// Bytes of an envelope with a payload of ``ShareSplit/payloadBytes``.
    public static let byteCount = 288

    /// 32 bytes.
    public let ephemeralKey: [UInt8]
    public let message: [UInt8]

    public init(ephemeralKey: [UInt8], message: [UInt8]) throws(ShareError) {
        guard ephemeralKey.count == MessageKey.byteCount else { throw .invalidKey }
        guard !message.isEmpty, message.count % AESCBC.blockBytes == 0,
            message.count <= MessageBox.messageBytesMax
        else { throw .malformed }
        self.ephemeralKey = ephemeralKey
        self.message = message
    }

    /// Reads an envelope without a wrapper; see ``ReceivedEnvelope`` for either.
    ///
    /// Throws ``ShareError/malformed`` unless a message of whole blocks follows the key.
    public init(_ bytes: [UInt8]) throws(ShareError) {
        guard bytes.count > MessageKey.byteCount else { throw .malformed }
        try self.init(
            ephemeralKey: Array(bytes[..<MessageKey.byteCount]),
            message: Array(bytes[MessageKey.byteCount...]))
    }

    /// The envelope as it is written.
    public var bytes: [UInt8] { ephemeralKey + message }

    /// Seals a payload for the owner of a public key, under an ephemeral key made for it.
    public static func seal(
        _ payload: borrowing SecretBytes, to recipient: [UInt8], random: some RandomSource
    ) throws(ShareError) -> ShareEnvelope {
        try sealed(payload, to: recipient, random: random).envelope
    }

    /// The same, with the key that the envelope's message is under.
    static func sealed(
        _ payload: borrowing SecretBytes, to recipient: [UInt8], random: some RandomSource
    ) throws(ShareError) -> Sealed {
        guard recipient.count == MessageKey.byteCount else { throw .invalidKey }
        let ephemeral = try EphemeralKey(random: random)
        let key = try MessageKey(privateKey: ephemeral.seed, publicKey: recipient)
        let message = try MessageBox.seal(payload, key: key) { prefix in
            EnvelopeMark.fill(
                prefix, ephemeralKey: ephemeral.publicKey, key: key, random: random)
        }
        let envelope = try ShareEnvelope(ephemeralKey: ephemeral.publicKey, message: message)
        return Sealed(envelope: envelope, key: key)
    }

    /// An envelope and what opens it.
    struct Sealed: ~Copyable {
        let envelope: ShareEnvelope
        let key: MessageKey
    }

    /// Splits a phrase's block and seals each share for its holder, in the holders' order.
    ///
    /// Throws ``ShareError/wrongCount(_:)`` unless there are three holders,
    /// ``ShareError/repeatedHolder`` where two of them are one, ``ShareError/invalidKey`` for a
    /// holder's key that is none.
    public static func seal(
        block: borrowing SecretBytes, to holders: [[UInt8]], random: some RandomSource
    ) throws(ShareError) -> [ShareEnvelope] {
        try check(holders)
        var envelopes: [ShareEnvelope] = []
        for (payload, holder) in zip(try ShareSplit.split(block, random: random), holders) {
            envelopes.append(try seal(payload.bytes, to: holder, random: random))
        }
        guard Set(envelopes.map(\.ephemeralKey)).count == envelopes.count else { throw .failed }
        return envelopes
    }

    /// The payload, for the owner of the private key.
    ///
    /// Throws ``ShareError/authenticationFailed`` for an envelope with any bit changed and for
    /// another key; ``ShareError/invalidKey`` for an ephemeral key of low order.
    public func open(privateKey: borrowing SecretBytes) throws(ShareError) -> SecretBytes {
        try open(key: MessageKey(privateKey: privateKey, publicKey: ephemeralKey))
    }

    /// The payload, by the key that the message is under.
    func open(key: borrowing MessageKey) throws(ShareError) -> SecretBytes {
        let plaintext = try MessageBox.read(message, key: key)
        let isChanged = EnvelopeMark.tellsOfOtherSign(
            plaintext.restOfPrefix(), ephemeralKey: ephemeralKey, key: key)
        guard !isChanged else { throw .authenticationFailed }
        return plaintext.payload()
    }

    /// Throws unless these are the keys of three different holders.
    static func check(_ holders: [[UInt8]]) throws(ShareError) {
        guard holders.count == ShareSplit.shareCount else { throw .wrongCount(holders.count) }
        guard holders.allSatisfy({ $0.count == MessageKey.byteCount }) else { throw .invalidKey }
        guard Set(holders.map(withoutSign)).count == holders.count else { throw .repeatedHolder }
    }

    /// Two keys that differ in the sign alone have the same owner.
    private static func withoutSign(_ key: [UInt8]) -> [UInt8] {
        key.enumerated().map { $0.offset == key.count - 1 ? $0.element & 0x7f : $0.element }
    }
}

/// A key pair for one envelope.
private struct EphemeralKey: ~Copyable {
    let seed: SecretBytes
    let publicKey: [UInt8]

    /// Its public key is never one that a reader would take for the head of a wrapper, which one in
    /// 2^32 is.
    init(random: some RandomSource) throws(ShareError) {
        for _ in 0..<Self.triesMax {
            let seed = random.secret(Ed25519.seedBytes)
            let publicKey: [UInt8]
            do throws(CryptoError) {
                publicKey = try Ed25519.publicKey(seed: seed)
            } catch {
                throw .failed
            }
            guard !publicKey.starts(with: ReceivedEnvelope.wrapperSignature) else { continue }
            self.seed = seed
            self.publicKey = publicKey
            return
        }
        throw .failed
    }

    private static let triesMax = 8
}
