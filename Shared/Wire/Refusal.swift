/// What an error leaves behind.
public enum Outcome: String, TextIdentifier {
    /// Nothing happened.
    case rejected
    /// It may have happened; the outcome of the idempotency key tells.
    case unknown

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// The one shape of an error on the wire: the absence of an answer.
public struct Refusal: Error, Equatable, Sendable {
    /// How long a message may be on the wire, in bytes of UTF-8.
    public static let messageLimit = 1_024

    /// Stable, of the form `session.ended`.
    public var code: String
    /// What a person can do about it.
    ///
    /// It holds no secret and no value that a peer sent.
    public var message: String
    public var outcome: Outcome
    /// How long to wait before asking again, where waiting helps.
    public var retryAfterMilliseconds: UInt64?

    public init(
        code: String, message: String, outcome: Outcome, retryAfterMilliseconds: UInt64? = nil
    ) {
        self.code = code
        self.message = message
        self.outcome = outcome
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }
}

extension Refusal: Message {
    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["code", "message", "outcome", "retry_after_ms"])
        code = try object.string("code")
        guard FaultCode.isWellFormed(code) else { throw .invalid("code") }
        message = try object.string("message")
        guard message.utf8.count <= Self.messageLimit else { throw .invalid("message") }
        outcome = try object.identifier("outcome")
        retryAfterMilliseconds = try object.optionalUInt64("retry_after_ms")
    }

    public func write(to writer: inout JSONWriter) {
        writer.string("code", code)
        writer.string("message", message)
        writer.identifier("outcome", outcome)
        writer.optionalUInt64("retry_after_ms", retryAfterMilliseconds)
    }
}

extension Refusal: CustomStringConvertible {
    /// Code and outcome, for logs.
    public var description: String { "\(code) (\(outcome.text))" }
}

/// The form of error codes: lower-case words with one dot between service and kind.
enum FaultCode {
    static func isWellFormed(_ code: String) -> Bool {
        let parts = code.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        return parts.count == 2 && code.utf8.count <= 64
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
                    }
            }
    }
}
