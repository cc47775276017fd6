import AuthorityMessages
import Crypto
import Secrets
import TestKit
import Wire

/// A credential of another installation, made with the cheap derivation.
struct ForeignCredential {
    let code: String
    let protection: Bool
    let document: SharedSecret
    let deviceSecret: SharedSecret
    /// What the vault's key for a namespace comes from.
    let accessKey: SharedSecret

    private static let iterations = 600_000

    init(code: String, protection: Bool, _ random: SeededRandom) throws {
        self.code = code
        self.protection = protection
        deviceSecret = SharedSecret(random.secret(32))
        accessKey = SharedSecret(random.secret(32))
        let id = random.uuid()
        let salt = random.bytes(16)
        let password = HMAC.sha256(
            key: deviceSecret.bytes, message: Array("telegram.passcode.v1\0\(code)".utf8))
        let key = HMAC.sha256(key: password, message: salt + Array("\(Self.iterations)".utf8))
        let kind = PasscodeKind.alphanumeric
        let wrapped = try AESGCM.seal(
            accessKey.bytes, key: key, nonce: random.bytes(12),
            aad: Array("credential.v1:\(id):\(kind.text)".utf8))
        var writer = JSONWriter()
        writer.integer("version", 1)
        writer.string("id", id)
        writer.uint64("revision", 7)
        writer.bool("managedPasscode", true)
        writer.identifier("kind", kind)
        writer.base64("salt", salt)
        writer.integer("iterations", Self.iterations)
        writer.base64("wrappedKey", wrapped)
        if !protection { writer.secretBase64("unprotectedKey", accessKey.bytes) }
        writer.bool("walletProtection", protection)
        writer.strings("biometricCleanup", [])
        document = SharedSecret(writer.finishSecret())
    }

    /// The vault's key for a namespace.
    func key(of namespace: Namespace) throws -> [UInt8] {
        try HKDF.sha256(
            key: accessKey.bytes, salt: Array(namespace.text.utf8),
            info: Array("telegram.wallet.dek.v1".utf8), count: 32
        ).withBytes { Array($0) }
    }
}
