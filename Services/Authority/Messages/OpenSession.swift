public import Tokens
public import Wire

/// Starts a session without a passcode, for an owner whose access key needs none.
///
/// Such a session is of origin `unprotected` and of a scope that opens wallets; it changes no
/// passcode and no setting. The owner's gate must be open. For an owner of whom nothing is known a
/// record without a passcode is made.
public struct OpenSession: Request, Equatable {
    public static var method: String { "authority.open_session" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .apps }
    public static var replyAttachmentCount: ClosedRange<Int> { 0...1 }

    /// `resource`, `sign` or `reveal`.
    public var scope: Scope
    /// As for ``Verify``.
    public var audience: [ServiceName]
    /// Owner-managed for resource scopes alone.
    public var lifetime: Lifetime

    public init(scope: Scope, audience: [ServiceName], lifetime: Lifetime = .standard) {
        self.scope = scope
        self.audience = audience
        self.lifetime = lifetime
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([
            "scope", "namespace", "wallet", "audience", "lifetime",
        ])
        scope = try Scope(from: object)
        audience = try object.identifiers("audience")
        guard audience.count <= ServiceName.allCases.count else { throw .invalid("audience") }
        lifetime = try object.optionalIdentifier("lifetime") ?? .standard
    }

    public func write(to writer: inout JSONWriter) {
        scope.write(to: &writer)
        writer.identifiers("audience", audience)
        if lifetime != .standard { writer.identifier("lifetime", lifetime) }
    }

    /// The session; its token is the attachment.
    public struct Reply: Message, Equatable {
        /// How long it lives.
        public var remainingMilliseconds: UInt64

        public init(remainingMilliseconds: UInt64) {
            self.remainingMilliseconds = remainingMilliseconds
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["remaining_ms"])
            remainingMilliseconds = try object.uint64("remaining_ms")
        }

        public func write(to writer: inout JSONWriter) {
            writer.uint64("remaining_ms", remainingMilliseconds)
        }
    }
}

/// Opens the gate of an owner without a passcode.
///
/// The gate of an owner who has one is opened by the right passcode alone.
public struct Unlock: BodilessRequest, Equatable {
    public static var method: String { "authority.unlock" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }

    public init() {}

    public typealias Reply = Empty
}
