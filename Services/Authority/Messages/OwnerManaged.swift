public import Wire

/// Keeps an owner-managed session for 15 s more, in which the time that the machine sleeps does not
/// count.
///
/// Takes the session's token. A session that its holder does not renew ends.
public struct Renew: BodilessRequest, Equatable {
    public static var method: String { "authority.renew" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public init() {}

    /// The session goes on.
    public struct Reply: Message, Equatable {
        /// How long, if it is not renewed again.
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

/// Waits until the owner is unlocked, with an owner-managed session.
///
/// Fails with `session.ended` when the session ends meanwhile. It does not renew the session. A
/// session has one wait: another takes its place, and the earlier one is answered as at its end; so
/// a wait of zero cancels it.
public struct AwaitUnlocked: Request, Equatable {
    public static var method: String { "authority.await_unlocked" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public static let millisecondsLimit: UInt64 = 60_000

    /// How long, up to a minute.
    public var waitMilliseconds: UInt64

    public init(waitMilliseconds: UInt64) { self.waitMilliseconds = waitMilliseconds }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["wait_ms"])
        waitMilliseconds = try object.uint64("wait_ms")
        guard waitMilliseconds <= Self.millisecondsLimit else { throw .invalid("wait_ms") }
    }

    public func write(to writer: inout JSONWriter) { writer.uint64("wait_ms", waitMilliseconds) }

    /// How the wait ended.
    public struct Reply: Message, Equatable {
        /// False where the time was over, or another wait took this one's place.
        public var unlocked: Bool

        public init(unlocked: Bool) { self.unlocked = unlocked }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["unlocked"])
            unlocked = try object.bool("unlocked")
        }

        public func write(to writer: inout JSONWriter) { writer.bool("unlocked", unlocked) }
    }
}
