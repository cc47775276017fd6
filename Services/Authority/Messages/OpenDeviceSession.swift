public import Tokens
public import Wire

/// Starts a session with the hardware token that was enrolled, and opens the owner's gate.
///
/// Such a session is of origin `device` and of a `resource` scope; it changes no passcode and no
/// setting. The token's PIN is the attachment, none for a token that asks for it itself. Nothing
/// that goes wrong is an attempt at the passcode.
public struct OpenDeviceSession: Request, Equatable {
    public static var method: String { "authority.open_device_session" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .apps }
    public static var attachmentCount: ClosedRange<Int> { 0...1 }
    public static var replyAttachmentCount: ClosedRange<Int> { 0...1 }

    /// `resource`.
    public var scope: Scope
    /// As for ``Verify``.
    public var audience: [ServiceName]
    public var lifetime: Lifetime

    public init(scope: Scope, audience: [ServiceName], lifetime: Lifetime = .standard) {
        self.scope = scope
        self.audience = audience
        self.lifetime = lifetime
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["scope", "namespace", "wallet", "audience", "lifetime"])
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
    public typealias Reply = OpenSession.Reply
}
