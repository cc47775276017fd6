public import Wire

/// Says whether the access key needs the passcode.
///
/// Takes a settings session of passcode origin, which stays with its deadline; every other session
/// of the owner ends. What is so already stays as it is.
public struct SetProtection: Request, Equatable {
    public static var method: String { "authority.set_protection" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var protection: Bool

    public init(protection: Bool) { self.protection = protection }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["protection"])
        protection = try object.bool("protection")
    }

    public func write(to writer: inout JSONWriter) { writer.bool("protection", protection) }

    /// How it stands now.
    public struct Reply: Message, Equatable {
        public var protection: Bool
        public var revision: UInt64

        public init(protection: Bool, revision: UInt64) {
            self.protection = protection
            self.revision = revision
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["protection", "revision"])
            protection = try object.bool("protection")
            revision = try object.uint64("revision")
        }

        public func write(to writer: inout JSONWriter) {
            writer.bool("protection", protection)
            writer.uint64("revision", revision)
        }
    }
}
