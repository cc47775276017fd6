public import Wire

/// Which hardware token opens the owner's wallets.
///
/// Says nothing secret, touches no token and needs no session.
public struct AskDeviceKey: BodilessRequest, Equatable {
    public static var method: String { "authority.device_key" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }

    /// How many copies can wait to be deleted.
    public static let waitingLimit = 16

    public init() {}

    /// What the authority has in its store.
    public struct Reply: Message, Equatable {
        /// The token that was enrolled; nil where none is.
        public var token: String?
        public var form: DeviceKeyForm?
        /// The tokens that have something of this owner that is to be deleted, one for each thing.
        public var waiting: [String]

        public init(token: String?, form: DeviceKeyForm?, waiting: [String]) {
            self.token = token
            self.form = form
            self.waiting = waiting
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["token", "form", "waiting"])
            token = try object.optionalString("token")
            form = try object.optionalIdentifier("form")
            waiting = try object.strings("waiting")
            guard waiting.count <= AskDeviceKey.waitingLimit + 1 else { throw .invalid("waiting") }
        }

        public func write(to writer: inout JSONWriter) {
            writer.optionalString("token", token)
            writer.optionalIdentifier("form", form)
            writer.strings("waiting", waiting)
        }
    }
}
