public import Wire

/// The signature schemes.
public enum SignatureScheme: String, TextIdentifier, CaseIterable {
    /// RFC 8032, over the message; the key by SLIP-10, hardened levels only.
    case ed25519
    /// ECDSA over a 32-byte digest, RFC 6979 nonce, low S; the key by BIP-32.
    case secp256k1

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// The one key of wallets that have no other.
public struct SoleKey: Equatable, Sendable {
    public let scheme: SignatureScheme
    public let path: String
}

extension WalletKind {
    /// The one key that wallets of this kind sign with; nil where a path chooses among many.
    public var soleKey: SoleKey? {
        switch self {
        case .bip39, .dash: nil
        case .ton: SoleKey(scheme: .ed25519, path: "m")
        case .tonRotation: SoleKey(scheme: .ed25519, path: "m/44'/607'/0'")
        }
    }
}

/// Signs with a key derived from a wallet.
///
/// A wallet of a TON kind signs with its ``WalletKind/soleKey`` only.
///
/// What is signed is the one attachment: for `ed25519` a message of at most 32 KiB, for `secp256k1`
/// a digest of exactly 32 bytes. Takes a `sign` proof, or a resource session where the owner's
/// policy is `session`.
public struct SignWithWallet: Request, Equatable {
    public static var method: String { "vault.sign" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .signers }
    public static var tokenUse: TokenUse { .required }
    public static var attachmentCount: ClosedRange<Int> { 1...1 }

    /// The longest path, in bytes.
    public static let pathLimit = 128

    public var namespace: Namespace
    public var wallet: WalletID
    public var scheme: SignatureScheme
    /// Such as `m/44'/0'/0'/0/0`.
    public var path: String

    public init(namespace: Namespace, wallet: WalletID, scheme: SignatureScheme, path: String) {
        self.namespace = namespace
        self.wallet = wallet
        self.scheme = scheme
        self.path = path
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "wallet", "scheme", "path"])
        namespace = try object.identifier("namespace")
        wallet = try object.identifier("wallet")
        scheme = try object.identifier("scheme")
        path = try object.string("path")
        guard path.utf8.count <= Self.pathLimit else { throw .invalid("path") }
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.identifier("wallet", wallet)
        writer.identifier("scheme", scheme)
        writer.string("path", path)
    }

    /// The signature and the key that verifies it.
    public struct Reply: Message, Equatable {
        /// 64 bytes: R and S of Ed25519, or r and s of ECDSA, each 32 bytes, most significant
        /// first.
        public var signature: [UInt8]
        /// 32 bytes for Ed25519, 33 (compressed) for secp256k1.
        public var publicKey: [UInt8]
        /// For secp256k1, which of the candidate keys is the signer's: 0 to 3.
        public var recovery: Int?

        public init(signature: [UInt8], publicKey: [UInt8], recovery: Int?) {
            self.signature = signature
            self.publicKey = publicKey
            self.recovery = recovery
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["signature", "public_key", "recovery"])
            signature = try object.hex("signature", count: 64)
            publicKey = try object.hex("public_key")
            recovery = try object.optionalInteger("recovery")
        }

        public func write(to writer: inout JSONWriter) {
            writer.hex("signature", signature)
            writer.hex("public_key", publicKey)
            writer.optionalInteger("recovery", recovery)
        }
    }
}
