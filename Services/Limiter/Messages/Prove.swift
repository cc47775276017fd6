public import Wire

/// Shows possession of the access key: drops all charges, and answers one evaluation, uncharged,
/// where a code comes with it.
///
/// With a code the signature is of ``SignedStatement/provePasscode``, without one of
/// ``SignedStatement/proveRemoval``.
public struct Prove: Request, Equatable {
    public static var method: String { "limiter.prove" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .authority }
    public static var attachmentCount: ClosedRange<Int> { 0...1 }
    public static var replyAttachmentCount: ClosedRange<Int> { 0...1 }

    public var enrolment: EnrolmentID
    /// From ``DrawChallenge``.
    public var challenge: [UInt8]
    /// 64 bytes.
    public var signature: [UInt8]

    public init(enrolment: EnrolmentID, challenge: [UInt8], signature: [UInt8]) {
        self.enrolment = enrolment
        self.challenge = challenge
        self.signature = signature
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["enrolment", "challenge", "signature"])
        enrolment = try object.identifier("enrolment")
        challenge = try object.hex("challenge", count: 16)
        signature = try object.hex("signature", count: 64)
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("enrolment", enrolment)
        writer.hex("challenge", challenge)
        writer.hex("signature", signature)
    }

    public typealias Reply = Empty
}
