public import Wire

/// What a signature needs, as the owner has set it.
public struct AskSignPolicy: BodilessRequest, Equatable {
    public static var method: String { "authority.sign_policy" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }

    public init() {}

    public typealias Reply = SignPolicyReply
}

/// Sets what a signature needs.
///
/// Takes a settings session of passcode origin.
public struct SetSignPolicy: Request, Equatable {
    public static var method: String { "authority.set_sign_policy" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var policy: SignPolicy

    public init(policy: SignPolicy) { self.policy = policy }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["policy"])
        policy = try object.identifier("policy")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("policy", policy) }

    public typealias Reply = SignPolicyReply
}

/// The policy that stands now.
public struct SignPolicyReply: Message, Equatable {
    public var policy: SignPolicy

    public init(policy: SignPolicy) { self.policy = policy }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["policy"])
        policy = try object.identifier("policy")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("policy", policy) }
}

/// Sets an owner's attempts record that cannot be read to six failed attempts and a fresh 60 s.
public struct RepairOwnerAttempts: BodilessRequest, Equatable {
    public static var method: String { "authority.repair_attempts" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }

    public init() {}

    /// How the owner stands after the repair.
    public struct Reply: Message, Equatable {
        public var failed: UInt64
        public var remainingMilliseconds: UInt64

        public init(failed: UInt64, remainingMilliseconds: UInt64) {
            self.failed = failed
            self.remainingMilliseconds = remainingMilliseconds
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["failed", "remaining_ms"])
            failed = try object.uint64("failed")
            remainingMilliseconds = try object.uint64("remaining_ms")
        }

        public func write(to writer: inout JSONWriter) {
            writer.uint64("failed", failed)
            writer.uint64("remaining_ms", remainingMilliseconds)
        }
    }
}
