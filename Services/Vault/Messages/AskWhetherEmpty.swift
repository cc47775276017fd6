public import Wire

/// Whether the vault has nothing of the owner: no wallet, and no remains of one that nobody can
/// read.
///
/// The authority asks before it resets an owner of whom nobody shows a passcode.
public struct AskWhetherEmpty: BodilessRequest, Equatable {
    public static var method: String { "vault.is_empty" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { Callers(services: [.credentialAuthority]) }

    public init() {}

    public struct Reply: Message, Equatable {
        public var empty: Bool

        public init(empty: Bool) { self.empty = empty }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["empty"])
            empty = try object.bool("empty")
        }

        public func write(to writer: inout JSONWriter) { writer.bool("empty", empty) }
    }
}
