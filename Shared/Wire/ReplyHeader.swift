/// The first frame of a reply.
public struct ReplyHeader: Equatable, Sendable {
    /// Whether the body is the method's reply or a `Refusal`.
    public enum Status: String, TextIdentifier {
        case ok
        case error

        public init?(_ text: String) { self.init(rawValue: text) }

        public var text: String { rawValue }
    }

    /// How long a header may be, in bytes.
    public static let sizeLimit = 1_024

    /// The id of the request.
    public var id: UInt64
    public var status: Status
    /// Whether a journal answered: the change was made earlier, and attachments are left out.
    public var repeated: Bool

    public init(id: UInt64, status: Status, repeated: Bool = false) {
        self.id = id
        self.status = status
        self.repeated = repeated
    }

    /// Reads a header.
    ///
    /// `JSONError.invalid("v")` means another version of the protocol.
    public init(decoding bytes: [UInt8]) throws(JSONError) {
        let object = try JSONDocument(bytes, limit: Self.sizeLimit).object()
        guard try object.integer("v") == RequestHeader.version else { throw .invalid("v") }
        try object.refuseUnknownKeys(["v", "id", "status", "repeated"])
        id = try object.uint64("id")
        guard id <= RequestHeader.idLimit else { throw .invalid("id") }
        status = try object.identifier("status")
        repeated = try object.optionalBool("repeated") ?? false
    }

    public func encode() -> [UInt8] {
        var writer = JSONWriter()
        writer.integer("v", RequestHeader.version)
        writer.uint64("id", id)
        writer.identifier("status", status)
        if repeated { writer.bool("repeated", true) }
        return writer.finish()
    }
}
