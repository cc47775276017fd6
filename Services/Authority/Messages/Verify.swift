public import Tokens
public import Wire

/// Tries a passcode and, when it is right, starts a session of one scope.
///
/// The passcode as typed is the one attachment. An extension gets `app_unlock` and nothing else.
public struct Verify: Request, Equatable {
    public static var method: String { "authority.verify" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .appsAndExtensions }
    public static var attachmentCount: ClosedRange<Int> { 1...1 }
    public static var replyAttachmentCount: ClosedRange<Int> { 0...1 }

    public var scope: Scope
    /// The services that may act on the session; each only for the holder.
    public var audience: [ServiceName]
    /// The credential that the caller believes it talks to; another is refused before the code is
    /// tried (`credential.stale`).
    public var credential: String?
    /// Owner-managed for resource scopes alone.
    public var lifetime: Lifetime

    public init(
        scope: Scope, audience: [ServiceName], credential: String? = nil,
        lifetime: Lifetime = .standard
    ) {
        self.scope = scope
        self.audience = audience
        self.credential = credential
        self.lifetime = lifetime
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([
            "scope", "namespace", "wallet", "audience", "credential", "lifetime",
        ])
        scope = try Scope(from: object)
        audience = try object.identifiers("audience")
        guard audience.count <= ServiceName.allCases.count else { throw .invalid("audience") }
        credential = try object.optionalString("credential")
        lifetime = try object.optionalIdentifier("lifetime") ?? .standard
    }

    public func write(to writer: inout JSONWriter) {
        scope.write(to: &writer)
        writer.identifiers("audience", audience)
        writer.optionalString("credential", credential)
        if lifetime != .standard { writer.identifier("lifetime", lifetime) }
    }

    /// What came of the attempt.
    public enum Reply: Message, Equatable {
        /// The token is the attachment. `failedBefore` counts the tries since the last success;
        /// `tries` are the newest of them, oldest first, and are told this once.
        case verified(
            remainingMilliseconds: UInt64, failedBefore: UInt64, tries: [FailedTry] = [])
        /// Where the limiter could not be asked for the count, `failed` is one: at least this try.
        case wrong(failed: UInt64, remainingMilliseconds: UInt64)
        case coolingDown(remainingMilliseconds: UInt64, failed: UInt64)

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["result", "remaining_ms", "failed", "tries"])
            let remaining = try object.uint64("remaining_ms")
            let failed = try object.uint64("failed")
            let result = try object.string("result")
            guard object.has("tries") == (result == "verified") else { throw .invalid("tries") }
            switch result {
            case "verified":
                self = .verified(
                    remainingMilliseconds: remaining, failedBefore: failed,
                    tries: try object.failedTries("tries"))
            case "wrong": self = .wrong(failed: failed, remainingMilliseconds: remaining)
            case "cooling_down":
                self = .coolingDown(remainingMilliseconds: remaining, failed: failed)
            default: throw .invalid("result")
            }
        }

        public func write(to writer: inout JSONWriter) {
            switch self {
            case .verified(let remaining, let failed, let tries):
                write("verified", remaining, failed, to: &writer)
                writer.failedTries("tries", tries)
            case .wrong(let failed, let remaining):
                write("wrong", remaining, failed, to: &writer)
            case .coolingDown(let remaining, let failed):
                write("cooling_down", remaining, failed, to: &writer)
            }
        }

        private func write(
            _ result: String, _ remaining: UInt64, _ failed: UInt64, to writer: inout JSONWriter
        ) {
            writer.string("result", result)
            writer.uint64("remaining_ms", remaining)
            writer.uint64("failed", failed)
        }
    }
}
