public import Wire

/// Charges one attempt and answers one evaluation of the device secret over a code.
///
/// The normalized code is the one attachment; neither it nor the answer is stored. The charge is
/// durable before the answer leaves.
public struct Begin: Request, Equatable {
    public static var method: String { "limiter.begin" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .authority }
    public static var attachmentCount: ClosedRange<Int> { 1...1 }
    public static var replyAttachmentCount: ClosedRange<Int> { 0...1 }

    /// The largest charge number there is.
    public static let chargeLimit: UInt64 = 1 << 53

    public var enrolment: EnrolmentID
    /// 16 random bytes, new for every attempt.
    public var nonce: [UInt8]
    /// The highest charge number that the authority has seen in this enrolment.
    public var lastCharge: UInt64

    public init(enrolment: EnrolmentID, nonce: [UInt8], lastCharge: UInt64) {
        self.enrolment = enrolment
        self.nonce = nonce
        self.lastCharge = lastCharge
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["enrolment", "nonce", "last_charge"])
        enrolment = try object.identifier("enrolment")
        nonce = try object.hex("nonce", count: 16)
        lastCharge = try object.uint64("last_charge")
        guard lastCharge <= Self.chargeLimit else { throw .invalid("last_charge") }
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("enrolment", enrolment)
        writer.hex("nonce", nonce)
        writer.uint64("last_charge", lastCharge)
    }

    /// What the limiter decided.
    public enum Reply: Message, Equatable {
        /// The attempt is charged; the attachment is
        /// `HMAC-SHA256(device secret, "telegram.passcode.v1\0" + code)`, 32 bytes.
        case charged(attempt: AttemptID, charge: UInt64)
        /// Not tried, not charged: the owner waits.
        case coolingDown(remainingMilliseconds: UInt64, failed: UInt64)

        public init(from object: JSONObject) throws(JSONError) {
            switch try object.string("result") {
            case "charged":
                try object.refuseUnknownKeys(["result", "attempt", "charge"])
                self = .charged(
                    attempt: try object.identifier("attempt"),
                    charge: try object.uint64("charge"))
            case "cooling_down":
                try object.refuseUnknownKeys(["result", "remaining_ms", "failed"])
                self = .coolingDown(
                    remainingMilliseconds: try object.uint64("remaining_ms"),
                    failed: try object.uint64("failed"))
            default: throw .invalid("result")
            }
        }

        public func write(to writer: inout JSONWriter) {
            switch self {
            case .charged(let attempt, let charge):
                writer.string("result", "charged")
                writer.identifier("attempt", attempt)
                writer.uint64("charge", charge)
            case .coolingDown(let remaining, let failed):
                writer.string("result", "cooling_down")
                writer.uint64("remaining_ms", remaining)
                writer.uint64("failed", failed)
            }
        }
    }
}
