public import Wire

/// Asks what the limiter knows of the owner, and for 16 random bytes to sign.
///
/// The bytes are kept in memory, serve once and for 60 s. It works in a cooldown too.
public struct DrawChallenge: BodilessRequest, Equatable {
    public static var method: String { "limiter.challenge" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .authority }

    public init() {}

    /// The challenge, and the enrolment of an owner who is known.
    public struct Reply: Message, Equatable {
        /// 16 bytes.
        public var challenge: [UInt8]
        /// Nil for an owner of whom the limiter has nothing.
        public var enrolment: EnrolmentID?
        /// The Ed25519 public key under which the owner is enrolled, 32 bytes.
        public var confirmKey: [UInt8]?

        public init(challenge: [UInt8], enrolment: EnrolmentID?, confirmKey: [UInt8]?) {
            self.challenge = challenge
            self.enrolment = enrolment
            self.confirmKey = confirmKey
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["challenge", "enrolment", "confirm_key"])
            challenge = try object.hex("challenge", count: 16)
            enrolment = try object.optionalIdentifier("enrolment")
            confirmKey = try object.optionalHex("confirm_key", count: 32)
        }

        public func write(to writer: inout JSONWriter) {
            writer.hex("challenge", challenge)
            writer.optionalIdentifier("enrolment", enrolment)
            writer.optionalHex("confirm_key", confirmKey)
        }
    }
}
