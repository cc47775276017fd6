public import Wire

/// Closes the owner's gate and revokes every standard session of the owner.
///
/// Owner-managed sessions live on and open nothing until the owner is unlocked.
///
/// Answered when every lease is closed, at the latest 250 ms after the last one was given.
public struct Lock: BodilessRequest, Equatable {
    public static var method: String { "authority.lock" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }

    public init() {}

    public typealias Reply = RevokedReply
}

/// Ends the session whose token comes with it.
public struct Revoke: BodilessRequest, Equatable {
    public static var method: String { "authority.revoke" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public init() {}

    public typealias Reply = RevokedReply
}

/// How many sessions ended.
public struct RevokedReply: Message, Equatable {
    public var revoked: Int

    public init(revoked: Int) { self.revoked = revoked }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["revoked"])
        revoked = try object.integer("revoked")
    }

    public func write(to writer: inout JSONWriter) { writer.integer("revoked", revoked) }
}
