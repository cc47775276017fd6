public import Tokens
public import Wire

/// Lists the owner's sessions that live, the newest first.
///
/// It tells nothing by which a session could be used.
public struct ListSessions: BodilessRequest, Equatable {
    public static var method: String { "authority.sessions" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }

    /// How many are told at the most.
    public static let limit = 256

    public init() {}

    /// One session.
    public struct Entry: Message, Equatable {
        public var session: SessionID
        public var scope: Scope
        public var origin: Origin
        public var lifetime: Lifetime
        /// How long it lives; for an owner-managed one, if it is not renewed.
        public var remainingMilliseconds: UInt64
        /// The name that its holder's entry had when it was opened.
        public var peer: String

        public init(
            session: SessionID, scope: Scope, origin: Origin, lifetime: Lifetime,
            remainingMilliseconds: UInt64, peer: String
        ) {
            self.session = session
            self.scope = scope
            self.origin = origin
            self.lifetime = lifetime
            self.remainingMilliseconds = remainingMilliseconds
            self.peer = peer
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys([
                "session", "scope", "namespace", "wallet", "origin", "lifetime", "remaining_ms",
                "peer",
            ])
            session = try object.identifier("session")
            scope = try Scope(from: object)
            origin = try object.identifier("origin")
            lifetime = try object.identifier("lifetime")
            remainingMilliseconds = try object.uint64("remaining_ms")
            peer = try object.string("peer")
        }

        public func write(to writer: inout JSONWriter) {
            writer.identifier("session", session)
            scope.write(to: &writer)
            writer.identifier("origin", origin)
            writer.identifier("lifetime", lifetime)
            writer.uint64("remaining_ms", remainingMilliseconds)
            writer.string("peer", peer)
        }
    }

    /// The sessions.
    public struct Reply: Message, Equatable {
        public var sessions: [Entry]
        /// How many more live.
        public var more: Int

        public init(sessions: [Entry], more: Int) {
            self.sessions = sessions
            self.more = more
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["sessions", "more"])
            sessions = []
            for entry in try object.objects("sessions") {
                sessions.append(try Entry(from: entry))
            }
            guard sessions.count <= ListSessions.limit else { throw .invalid("sessions") }
            more = try object.integer("more")
        }

        public func write(to writer: inout JSONWriter) {
            writer.objects("sessions", sessions) { writer, entry in entry.write(to: &writer) }
            writer.integer("more", more)
        }
    }
}

/// Ends one of the owner's sessions, whoever holds it.
///
/// Answered when its last lease is over. One that is over already is none to end.
public struct EndSession: Request, Equatable {
    public static var method: String { "authority.end_session" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }

    public var session: SessionID

    public init(session: SessionID) { self.session = session }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["session"])
        session = try object.identifier("session")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("session", session) }

    public typealias Reply = RevokedReply
}
