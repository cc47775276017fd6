public import Crypto
public import Secrets
public import Wire

/// Signs the tokens of one run of the authority.
///
/// Its key is never stored.
public struct TokenSigner: ~Copyable {
    public let run: RunID
    public let keyID: KeyID
    private let key: Ed25519SigningKey

    /// Takes an Ed25519 seed; the key's id follows from its public half where none is given.
    ///
    /// Throws `CryptoError.invalidLength` unless the seed has 32 bytes.
    public init(
        seed: borrowing SecretBytes, run: RunID, keyID: KeyID? = nil
    ) throws(CryptoError) {
        key = try Ed25519SigningKey(seed: seed)
        self.run = run
        self.keyID = keyID ?? KeyID(publicKey: key.publicKey)
    }

    /// What services need to verify this signer's tokens.
    public var publicKey: TokenKey { TokenKey(id: keyID, publicKey: key.publicKey) }

    /// The token; claims of another run or against the rules are refused, as is a token that no
    /// reader would take.
    public borrowing func sign(_ claims: Claims) throws(TokenError) -> [UInt8] {
        guard claims.run == run, (try? claims.validate()) != nil else { throw .invalidClaims }
        let token = PASETO.sign(
            payload: claims.encoded(), footer: TokenFooter(keyID: keyID).encoded(), key: key)
        guard token.count <= ReceivedToken.sizeLimit else { throw .invalidClaims }
        return token
    }
}

/// A token's footer, which names the key and nothing else.
struct TokenFooter: Message {
    /// How long a footer may be, in bytes.
    static let sizeLimit = 128

    let keyID: KeyID

    init(keyID: KeyID) { self.keyID = keyID }

    init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["kid"])
        keyID = try object.identifier("kid")
    }

    func write(to writer: inout JSONWriter) { writer.identifier("kid", keyID) }
}
