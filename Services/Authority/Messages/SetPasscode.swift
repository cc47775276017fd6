public import Wire

/// Sets the first passcode of an owner, or changes it.
///
/// The new passcode is the one attachment. An owner who has a passcode needs a `manage_passcode`
/// or `settings` session of passcode origin; the change revokes every session of the owner.
public struct SetPasscode: Request, Equatable {
    public static var method: String { "authority.set_passcode" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .optional }
    public static var attachmentCount: ClosedRange<Int> { 1...1 }

    public var passcodeKind: PasscodeKind

    public init(passcodeKind: PasscodeKind) { self.passcodeKind = passcodeKind }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["kind"])
        passcodeKind = try object.identifier("kind")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("kind", passcodeKind) }

    /// The credential as it stands now.
    public struct Reply: Message, Equatable {
        public var credential: String
        public var revision: UInt64
        /// PBKDF2 iterations of the new wrapper.
        public var iterations: Int

        public init(credential: String, revision: UInt64, iterations: Int) {
            self.credential = credential
            self.revision = revision
            self.iterations = iterations
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["credential", "revision", "iterations"])
            credential = try object.string("credential")
            revision = try object.uint64("revision")
            iterations = try object.integer("iterations")
        }

        public func write(to writer: inout JSONWriter) {
            writer.string("credential", credential)
            writer.uint64("revision", revision)
            writer.integer("iterations", iterations)
        }
    }
}
