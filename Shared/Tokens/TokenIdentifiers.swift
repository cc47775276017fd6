internal import Crypto
public import Wire

/// Names one session in the authority's registry.
public typealias SessionID = Identifier<SessionKind>
/// Names one run of the authority, from its start to its end.
public typealias RunID = Identifier<RunKind>
/// Names a signing key in a token's footer; it chooses among keys that are known already.
public typealias KeyID = Identifier<TokenKey>

/// The kind of thing that a ``SessionID`` names.
public enum SessionKind {}
/// The kind of thing that a ``RunID`` names.
public enum RunKind {}

extension Identifier where Named == TokenKey {
    /// The first 16 bytes of the SHA-256 of the public key.
    public init(publicKey: [UInt8]) {
        guard let id = Self(Array(SHA256.digest(publicKey).prefix(Self.byteCount))) else {
            preconditionFailure("a digest has more than 16 bytes")
        }
        self = id
    }
}

/// A public key of the authority, as services fetch it.
public struct TokenKey: Equatable, Sendable {
    public let id: KeyID
    /// Ed25519, 32 bytes.
    public let publicKey: [UInt8]

    public init(id: KeyID, publicKey: [UInt8]) {
        self.id = id
        self.publicKey = publicKey
    }
}
