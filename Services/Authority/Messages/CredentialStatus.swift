public import Wire

/// How an owner's credential stands.
///
/// Says nothing secret and needs no session.
public struct AskStatus: BodilessRequest, Equatable {
    public static var method: String { "authority.status" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .appsAndExtensions }

    public init() {}

    /// What the authority and, where it could be asked, the limiter say.
    public struct Reply: Message, Equatable {
        /// The credential's id; nil for an owner without a record.
        public var credential: String?
        /// Nil while no passcode is set.
        public var kind: PasscodeKind?
        public var protection: Bool
        /// Whether the gate is open: a right passcode, or none where there is none, since the start
        /// and no lock since.
        public var unlocked: Bool
        public var sessions: Int
        /// Attempts charged since the last success.
        public var failed: UInt64
        /// The newest tries since the last success was told, oldest first.
        public var tries: [FailedTry]
        /// What is under way and not finished; nothing else of the owner runs then.
        public var removal: RemovalKind?
        /// Milliseconds until the next attempt is taken.
        public var remainingMilliseconds: UInt64
        /// Whether the limiter could be asked; where it could not, attempts and wait are not known
        /// and stand as zero.
        public var limiterAnswers: Bool

        public init(
            credential: String?, kind: PasscodeKind?, protection: Bool, unlocked: Bool,
            sessions: Int, failed: UInt64, remainingMilliseconds: UInt64,
            limiterAnswers: Bool = true, tries: [FailedTry] = [], removal: RemovalKind? = nil
        ) {
            self.credential = credential
            self.kind = kind
            self.protection = protection
            self.unlocked = unlocked
            self.sessions = sessions
            self.failed = failed
            self.remainingMilliseconds = remainingMilliseconds
            self.limiterAnswers = limiterAnswers
            self.tries = tries
            self.removal = removal
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys([
                "credential", "kind", "protection", "unlocked", "sessions", "failed",
                "remaining_ms", "limiter_answers", "tries", "removal",
            ])
            credential = try object.optionalString("credential")
            kind = try object.optionalIdentifier("kind")
            protection = try object.bool("protection")
            unlocked = try object.bool("unlocked")
            sessions = try object.integer("sessions")
            failed = try object.uint64("failed")
            remainingMilliseconds = try object.uint64("remaining_ms")
            limiterAnswers = try object.bool("limiter_answers")
            tries = try object.failedTries("tries")
            removal = try object.optionalIdentifier("removal")
        }

        public func write(to writer: inout JSONWriter) {
            writer.optionalString("credential", credential)
            writer.optionalIdentifier("kind", kind)
            writer.bool("protection", protection)
            writer.bool("unlocked", unlocked)
            writer.integer("sessions", sessions)
            writer.uint64("failed", failed)
            writer.uint64("remaining_ms", remainingMilliseconds)
            writer.bool("limiter_answers", limiterAnswers)
            writer.failedTries("tries", tries)
            writer.optionalIdentifier("removal", removal)
        }
    }
}
