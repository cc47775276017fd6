internal import Crypto
public import Secrets
public import Wire

/// A secret under a key of its own, and that key under the namespace's wrapping key.
///
/// The version-1 form of the passcode document, "Wallet envelope encryption and integrity checks":
/// a JSON document with `version`, `vaultId`, `secretId`, `wrappedDek` and `ciphertext`. Each of
/// the two boxes is bound to namespace and secret id, with a label of its own, so that parts of two
/// envelopes never open together. An envelope is bound to no slot: its bytes may be copied to
/// another within the vault. Texts are compared as bytes, because String's `==` is canonical
/// equivalence.
public struct EnvelopeV1: Equatable, Sendable {
    /// The only version that this type reads and writes.
    public static let version = 1
    /// How long a secret id may be, in bytes; those made here are upper-case UUIDs.
    public static let secretIDLimit = 128

    private static let dataKeyCount = 32
    private static let overhead = AESGCM.overheadBytes
    private static let wrappedKeyCount = dataKeyCount + overhead

    /// The vault that the envelope belongs to: in Coffer, its namespace.
    public let vaultID: String
    /// Names the secret for ever, wherever the envelope lies.
    public let secretID: String
    let wrappedKey: [UInt8]
    let ciphertext: [UInt8]

    init(vaultID: String, secretID: String, wrappedKey: [UInt8], ciphertext: [UInt8]) {
        self.vaultID = vaultID
        self.secretID = secretID
        self.wrappedKey = wrappedKey
        self.ciphertext = ciphertext
    }

    /// Seals a secret, which must not be empty, for a namespace under its wrapping key of 32 bytes;
    /// data key, secret id and both nonces are new.
    public static func seal(
        _ secret: borrowing SecretBytes, namespace: Namespace, wrappingKey: borrowing SecretBytes,
        random: any RandomSource
    ) throws(EnvelopeError) -> EnvelopeV1 {
        let parts = Ingredients(
            secretID: random.uuid(), dataKey: random.secret(dataKeyCount),
            keyNonce: random.bytes(AESGCM.nonceBytes), secretNonce: random.bytes(AESGCM.nonceBytes))
        return try seal(
            secret, namespace: namespace, vaultID: namespace.text, wrappingKey: wrappingKey,
            parts: parts)
    }

    /// What of an envelope is drawn at random.
    struct Ingredients: ~Copyable {
        let secretID: String
        let dataKey: SecretBytes
        let keyNonce: [UInt8]
        let secretNonce: [UInt8]
    }

    static func seal(
        _ secret: borrowing SecretBytes, namespace: Namespace, vaultID: String,
        wrappingKey: borrowing SecretBytes, parts: borrowing Ingredients
    ) throws(EnvelopeError) -> EnvelopeV1 {
        guard secret.count > 0, !vaultID.isEmpty, !parts.secretID.isEmpty,
            parts.dataKey.count == dataKeyCount
        else { throw .malformed }
        do throws(CryptoError) {
            return EnvelopeV1(
                vaultID: vaultID, secretID: parts.secretID,
                wrappedKey: try AESGCM.seal(
                    parts.dataKey, key: wrappingKey, nonce: parts.keyNonce,
                    aad: context(.dataKey, namespace, parts.secretID)),
                ciphertext: try AESGCM.seal(
                    secret, key: parts.dataKey, nonce: parts.secretNonce,
                    aad: context(.secret, namespace, parts.secretID)))
        } catch {
            throw .failed
        }
    }

    /// Opens the envelope for its namespace, which is also the vault that it must name.
    public func open(
        namespace: Namespace, wrappingKey: borrowing SecretBytes
    ) throws(EnvelopeError) -> SecretBytes {
        try open(namespace: namespace, vaultID: namespace.text, wrappingKey: wrappingKey)
    }

    func open(
        namespace: Namespace, vaultID: String, wrappingKey: borrowing SecretBytes
    ) throws(EnvelopeError) -> SecretBytes {
        guard self.vaultID.utf8.elementsEqual(vaultID.utf8) else { throw .wrongVault }
        do throws(CryptoError) {
            let dataKey = try AESGCM.open(
                wrappedKey, key: wrappingKey, aad: Self.context(.dataKey, namespace, secretID))
            return try AESGCM.open(
                ciphertext, key: dataKey, aad: Self.context(.secret, namespace, secretID))
        } catch {
            throw error == .authenticationFailed ? .authenticationFailed : .failed
        }
    }

    private enum Part: String {
        case dataKey = "dek.v1"
        case secret = "secret.v1"
    }

    /// What a box is bound to; a namespace holds no colon.
    private static func context(
        _ part: Part, _ namespace: Namespace, _ secretID: String
    ) -> [UInt8] {
        Array("\(part.rawValue):\(namespace.text):\(secretID)".utf8)
    }
}

extension EnvelopeV1 {
    /// Reads a document; nothing is decrypted yet.
    public init(decoding document: [UInt8]) throws(EnvelopeError) {
        do throws(JSONError) {
            let object = try JSONDocument(document).object()
            guard try object.integer("version") == Self.version else {
                throw .invalid("version")
            }
            vaultID = try object.string("vaultId")
            secretID = try object.string("secretId")
            wrappedKey = try object.base64("wrappedDek")
            ciphertext = try object.base64("ciphertext")
        } catch {
            throw error == .invalid("version") ? .unsupportedVersion : .malformed
        }
        guard !vaultID.isEmpty, (1...Self.secretIDLimit).contains(secretID.utf8.count),
            wrappedKey.count == Self.wrappedKeyCount, ciphertext.count > Self.overhead
        else { throw .malformed }
    }

    /// The document.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.integer("version", Self.version)
        writer.string("vaultId", vaultID)
        writer.string("secretId", secretID)
        writer.base64("wrappedDek", wrappedKey)
        writer.base64("ciphertext", ciphertext)
        return writer.finish()
    }
}
