public import Wire

/// Takes the hardware token's route away, and then deletes what is on tokens as far as the PIN and
/// the token that is plugged in allow.
///
/// Takes a settings session of passcode origin, which stays with its deadline; every other session
/// of the owner ends. The PIN is the attachment. Without one nothing is deleted on the token: what
/// waits for that is told by ``AskDeviceKey``.
public struct RemoveDeviceKey: Request, Equatable {
    public static var method: String { "authority.remove_device_key" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }
    public static var attachmentCount: ClosedRange<Int> { 0...1 }

    /// Whether the tokens are gone or cleared: nothing is tried on them, and nothing waits.
    public var lost: Bool

    public init(lost: Bool) { self.lost = lost }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["lost"])
        lost = try object.bool("lost")
    }

    public func write(to writer: inout JSONWriter) { writer.bool("lost", lost) }

    /// How the credential stands now.
    public struct Reply: Message, Equatable {
        /// Whether a route was taken away.
        public var removed: Bool
        public var revision: UInt64

        public init(removed: Bool, revision: UInt64) {
            self.removed = removed
            self.revision = revision
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["removed", "revision"])
            removed = try object.bool("removed")
            revision = try object.uint64("revision")
        }

        public func write(to writer: inout JSONWriter) {
            writer.bool("removed", removed)
            writer.uint64("revision", revision)
        }
    }
}
