public import Wire

/// Removes the owner's passcode: the access key then needs none.
///
/// Takes a `manage_passcode` or `settings` session of passcode origin; every session of the owner
/// ends, the caller's too. The access key stays the same, and the sign policy goes back to its
/// default.
public struct DisablePasscode: BodilessRequest, Equatable {
    public static var method: String { "authority.disable_passcode" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public init() {}

    /// The credential as it stands now.
    public struct Reply: Message, Equatable {
        public var credential: String
        public var revision: UInt64

        public init(credential: String, revision: UInt64) {
            self.credential = credential
            self.revision = revision
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["credential", "revision"])
            credential = try object.string("credential")
            revision = try object.uint64("revision")
        }

        public func write(to writer: inout JSONWriter) {
            writer.string("credential", credential)
            writer.uint64("revision", revision)
        }
    }
}
