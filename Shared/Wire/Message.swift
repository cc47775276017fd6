/// A body that crosses the bus: one JSON object.
///
/// Secrets are never in it, they are attachments.
public protocol Message: Sendable {
    /// Reads the body; a message refuses members that it does not define.
    init(from object: JSONObject) throws(JSONError)
    func write(to writer: inout JSONWriter)
}

extension Message {
    /// Reads a body from its bytes.
    public init(
        decoding bytes: [UInt8], limit: Int = JSONDocument.defaultLimit
    ) throws(JSONError) {
        try self.init(from: JSONDocument(bytes, limit: limit).object())
    }

    /// The body's bytes.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.finish()
    }
}

/// The body that says nothing: `{}`.
public struct Empty: Message, Equatable {
    public init() {}

    public init(from object: JSONObject) throws(JSONError) { try object.refuseUnknownKeys([]) }

    public func write(to writer: inout JSONWriter) {}
}
