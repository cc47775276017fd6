internal import Crypto
public import Wire

/// Names one session in the authority's registry.
public struct SessionID: TextIdentifier {
    /// How long an id is, in bytes.
    public static let byteCount = 16

    public let bytes: [UInt8]

    /// Nil unless there are exactly 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 32 lower-case hexadecimal digits.
    public init?(_ text: String) {
        guard let bytes = Hex.decode(text) else { return nil }
        self.init(bytes)
    }

    public var text: String { Hex.encode(bytes) }
}

/// Names one run of the authority, from its start to its end.
public struct RunID: TextIdentifier {
    /// How long an id is, in bytes.
    public static let byteCount = 16

    public let bytes: [UInt8]

    /// Nil unless there are exactly 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 32 lower-case hexadecimal digits.
    public init?(_ text: String) {
        guard let bytes = Hex.decode(text) else { return nil }
        self.init(bytes)
    }

    public var text: String { Hex.encode(bytes) }
}

/// Names a signing key in a token's footer; it chooses among keys that are known already.
public struct KeyID: TextIdentifier {
    /// How long an id is, in bytes.
    public static let byteCount = 16

    public let bytes: [UInt8]

    /// Nil unless there are exactly 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 32 lower-case hexadecimal digits.
    public init?(_ text: String) {
        guard let bytes = Hex.decode(text) else { return nil }
        self.init(bytes)
    }

    /// The first 16 bytes of the SHA-256 of the public key.
    public init(publicKey: [UInt8]) {
        bytes = Array(SHA256.digest(publicKey).prefix(Self.byteCount))
    }

    public var text: String { Hex.encode(bytes) }
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
