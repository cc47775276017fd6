public import Wire

/// Puts a copy of the access key where only a hardware token with its PIN gives it back.
///
/// Takes a settings session of passcode origin, which stays with its deadline, and protection that
/// is on; every other session of the owner ends. The token's PIN is the attachment, none for a
/// token that asks for it itself. The token that was enrolled before stands until the new one has
/// given the key back.
public struct EnrolDeviceKey: Request, Equatable {
    public static var method: String { "authority.enrol_device_key" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }
    public static var attachmentCount: ClosedRange<Int> { 0...1 }

    /// A `pkcs11:` URI that fits one token.
    public var token: String
    /// Nil for the first that the token takes.
    public var form: DeviceKeyForm?

    public init(token: String, form: DeviceKeyForm? = nil) {
        self.token = token
        self.form = form
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["token", "form"])
        token = try object.string("token")
        form = try object.optionalIdentifier("form")
    }

    public func write(to writer: inout JSONWriter) {
        writer.string("token", token)
        writer.optionalIdentifier("form", form)
    }

    /// What was enrolled.
    public struct Reply: Message, Equatable {
        /// The URI of exactly that token.
        public var token: String
        public var form: DeviceKeyForm
        public var revision: UInt64

        public init(token: String, form: DeviceKeyForm, revision: UInt64) {
            self.token = token
            self.form = form
            self.revision = revision
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["token", "form", "revision"])
            token = try object.string("token")
            form = try object.identifier("form")
            revision = try object.uint64("revision")
        }

        public func write(to writer: inout JSONWriter) {
            writer.string("token", token)
            writer.identifier("form", form)
            writer.uint64("revision", revision)
        }
    }
}
