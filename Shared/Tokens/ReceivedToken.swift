/// The token frame of a request: bytes that nobody has checked.
public struct ReceivedToken: Sendable {
    /// How long a token may be, in bytes.
    public static let sizeLimit = 4_096

    let bytes: [UInt8]

    /// Nil where there are no bytes, or more than any token has.
    public init?(bytes: [UInt8]) {
        guard (1...Self.sizeLimit).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}

extension ReceivedToken: CustomStringConvertible, CustomReflectable {
    public var description: String { "‹token›" }

    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A session whose token was checked; only `TokenVerifier` makes one.
public struct VerifiedSession: Sendable {
    public let claims: Claims
    /// SHA-256 of the token, under which it is remembered.
    public let tokenDigest: [UInt8]

    init(claims: Claims, tokenDigest: [UInt8]) {
        self.claims = claims
        self.tokenDigest = tokenDigest
    }
}
