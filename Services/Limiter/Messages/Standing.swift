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

/// Sets an attempts record that cannot be read to six failed attempts and a fresh 60 s.
///
/// A record that can be read is refused (`limiter.nothing_to_repair`), so nothing is ever lowered.
public struct RepairAttempts: BodilessRequest, Equatable {
    public static var method: String { "limiter.repair" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .authority }

    public init() {}

    public typealias Reply = Standing
}
