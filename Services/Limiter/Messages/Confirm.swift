public import Wire

/// Says that the code of an attempt was right: drops the charges up to its own.
///
/// Taken once, for 60 s from the charge, in a cooldown and after a restart of the limiter too; an
/// attempt dies at a reboot. A repeat is answered the same.
public struct Confirm: Request, Equatable {
    public static var method: String { "limiter.confirm" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .authority }

    public var attempt: AttemptID
    /// Of ``SignedStatement/confirm`` over the attempt's id, 64 bytes.
    public var signature: [UInt8]

    public init(attempt: AttemptID, signature: [UInt8]) {
        self.attempt = attempt
        self.signature = signature
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["attempt", "signature"])
        attempt = try object.identifier("attempt")
        signature = try object.hex("signature", count: 64)
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("attempt", attempt)
        writer.hex("signature", signature)
    }

    public typealias Reply = ConfirmReply
}

/// The charges dropped.
public struct ConfirmReply: Message, Equatable {
    /// How many failed attempts stood before, the confirmed one not counted.
    public var failedBefore: UInt64

    public init(failedBefore: UInt64) { self.failedBefore = failedBefore }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["failed_before"])
        failedBefore = try object.uint64("failed_before")
    }

    public func write(to writer: inout JSONWriter) {
        writer.uint64("failed_before", failedBefore)
    }
}
