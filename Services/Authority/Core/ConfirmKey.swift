internal import Crypto
internal import LimiterMessages
internal import Secrets
internal import Wire

/// The key by which an owner's access key speaks to the limiter.
///
/// Ed25519, seeded from the access key, so it is as stable; its public half tests no passcode.
struct ConfirmKey: ~Copyable {
    private static let info = Array("coffer.attempt.confirm.v1".utf8)

    private let key: Ed25519SigningKey

    init(accessKey: borrowing SecretBytes) throws(CryptoError) {
        let seed = try HKDF.sha256(
            key: accessKey, salt: [], info: Self.info, count: Ed25519.seedBytes)
        key = try Ed25519SigningKey(seed: seed)
    }

    /// 32 bytes.
    var publicKey: [UInt8] { key.publicKey }

    /// The 64 bytes of the signature over a statement of the limiter's contract.
    borrowing func sign(_ statement: SignedStatement, _ owner: Owner, _ drawn: [UInt8]) -> [UInt8] {
        key.sign(statement.bytes(owner: owner, drawn: drawn))
    }
}
