public import Wire

/// Makes the owner's device secret and fixes the confirm key.
///
/// The same key again gets the same enrolment; any other is refused for as long as the owner is
/// known. The device secret never leaves the limiter.
public struct Enrol: Request, Equatable {
    public static var method: String { "limiter.enrol" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .authority }

    /// From ``DrawChallenge``.
    public var challenge: [UInt8]
    /// Ed25519 public key, 32 bytes.
    public var confirmKey: [UInt8]
    /// Of ``SignedStatement/enrol`` under that key, 64 bytes.
    public var signature: [UInt8]

    public init(challenge: [UInt8], confirmKey: [UInt8], signature: [UInt8]) {
        self.challenge = challenge
        self.confirmKey = confirmKey
        self.signature = signature
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["challenge", "confirm_key", "signature"])
        challenge = try object.hex("challenge", count: 16)
        confirmKey = try object.hex("confirm_key", count: 32)
        signature = try object.hex("signature", count: 64)
    }

    public func write(to writer: inout JSONWriter) {
        writer.hex("challenge", challenge)
        writer.hex("confirm_key", confirmKey)
        writer.hex("signature", signature)
    }

    /// The enrolment that stands now.
    public struct Reply: Message, Equatable {
        public var enrolment: EnrolmentID

        public init(enrolment: EnrolmentID) { self.enrolment = enrolment }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["enrolment"])
            enrolment = try object.identifier("enrolment")
        }

        public func write(to writer: inout JSONWriter) {
            writer.identifier("enrolment", enrolment)
        }
    }
}
