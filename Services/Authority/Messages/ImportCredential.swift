public import Wire

/// Takes over a credential record of version 1 from elsewhere, with its passcode.
///
/// Three attachments: the record's JSON document, its device secret (32 bytes), and the passcode as
/// typed. The record is opened with them and wrapped anew under the owner's own device secret; the
/// foreign one is dropped. Id, access key and protection stay as they were.
public struct ImportCredential: BodilessRequest, Equatable {
    public static var method: String { "authority.import_credential" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var attachmentCount: ClosedRange<Int> { 3...3 }

    public init() {}

    /// What came of it.
    public enum Reply: Message, Equatable {
        case imported(credential: String, revision: UInt64, kind: PasscodeKind, protection: Bool)
        /// The passcode, or the device secret, is not the one of this record; nothing was changed
        /// and no attempt counted.
        case wrong

        public init(from object: JSONObject) throws(JSONError) {
            switch try object.string("result") {
            case "imported":
                try object.refuseUnknownKeys([
                    "result", "credential", "revision", "kind", "protection",
                ])
                self = .imported(
                    credential: try object.string("credential"),
                    revision: try object.uint64("revision"),
                    kind: try object.identifier("kind"), protection: try object.bool("protection"))
            case "wrong":
                try object.refuseUnknownKeys(["result"])
                self = .wrong
            default: throw .invalid("result")
            }
        }

        public func write(to writer: inout JSONWriter) {
            switch self {
            case .imported(let credential, let revision, let kind, let protection):
                writer.string("result", "imported")
                writer.string("credential", credential)
                writer.uint64("revision", revision)
                writer.identifier("kind", kind)
                writer.bool("protection", protection)
            case .wrong: writer.string("result", "wrong")
            }
        }
    }
}
