public import Wire

/// How an owner stands: failed attempts and the wait.
///
/// Charges nothing.
public struct AskStanding: BodilessRequest, Equatable {
    public static var method: String { "limiter.standing" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .authority }

    public init() {}

    public typealias Reply = Standing
}

/// Failed attempts and the wait of one owner.
public struct Standing: Message, Equatable {
    /// Nil for an owner of whom the limiter has nothing.
    public var enrolment: EnrolmentID?
    /// Attempts charged since the count was last lowered.
    public var failed: UInt64
    /// Milliseconds until the next attempt is taken; zero when one is taken now.
    public var remainingMilliseconds: UInt64

    public init(enrolment: EnrolmentID?, failed: UInt64, remainingMilliseconds: UInt64) {
        self.enrolment = enrolment
        self.failed = failed
        self.remainingMilliseconds = remainingMilliseconds
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["enrolment", "failed", "remaining_ms"])
        enrolment = try object.optionalIdentifier("enrolment")
        failed = try object.uint64("failed")
        remainingMilliseconds = try object.uint64("remaining_ms")
    }

    public func write(to writer: inout JSONWriter) {
        writer.optionalIdentifier("enrolment", enrolment)
        writer.uint64("failed", failed)
        writer.uint64("remaining_ms", remainingMilliseconds)
    }
}

/// Sets attempts that cannot be relied on to six failed ones, or more where that can still be read,
/// and a fresh 60 s.
///
/// These are: a record that is missing or not valid, a charge number past its end here, and one
/// past its end at the authority. Anything else is refused (`limiter.nothing_to_repair`), so
/// nothing is ever lowered.
public struct RepairAttempts: Request, Equatable {
    public static var method: String { "limiter.repair" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .authority }

    /// The highest charge number that the authority has seen; nil where its own is past the end.
    public var lastCharge: UInt64?

    public init(lastCharge: UInt64?) { self.lastCharge = lastCharge }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["last_charge"])
        lastCharge = try object.optionalUInt64("last_charge")
        guard lastCharge ?? 0 < Begin.chargeLimit else { throw .invalid("last_charge") }
    }

    public func write(to writer: inout JSONWriter) {
        writer.optionalUInt64("last_charge", lastCharge)
    }

    /// How the owner stands after the repair.
    public struct Reply: Message, Equatable {
        public var enrolment: EnrolmentID
        public var failed: UInt64
        public var remainingMilliseconds: UInt64
        /// The number after which charges go on.
        public var lastCharge: UInt64

        public init(
            enrolment: EnrolmentID, failed: UInt64, remainingMilliseconds: UInt64,
            lastCharge: UInt64
        ) {
            self.enrolment = enrolment
            self.failed = failed
            self.remainingMilliseconds = remainingMilliseconds
            self.lastCharge = lastCharge
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["enrolment", "failed", "remaining_ms", "last_charge"])
            enrolment = try object.identifier("enrolment")
            failed = try object.uint64("failed")
            remainingMilliseconds = try object.uint64("remaining_ms")
            lastCharge = try object.uint64("last_charge")
        }

        public func write(to writer: inout JSONWriter) {
            writer.identifier("enrolment", enrolment)
            writer.uint64("failed", failed)
            writer.uint64("remaining_ms", remainingMilliseconds)
            writer.uint64("last_charge", lastCharge)
        }
    }
}
