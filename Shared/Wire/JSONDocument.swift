public import Secrets

/// One parsed JSON text.
///
/// Reading is strict and total: any bytes give a document or a typed error. Values stay in the
/// text, which is kept in secret memory when it came from there, until an accessor copies one out.
public struct JSONDocument: Sendable {
    /// How deep arrays and objects may be nested.
    public static let depthLimit = 16
    /// How long a text may be, in bytes, where the reader names no other limit.
    public static let defaultLimit = 65_536

    /// The outermost value.
    public let root: JSONValue

    /// Reads a text of at most `limit` bytes.
    public init(_ bytes: [UInt8], limit: Int = defaultLimit) throws(JSONError) {
        guard bytes.count <= min(limit, Int(Int32.max)) else { throw .tooLarge }
        let nodes = try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
            try JSONParser.parse(UnsafeRawBufferPointer(buffer))
        }
        root = JSONValue(table: JSONTable(plain: bytes, secret: nil, nodes: nodes), index: 0)
    }

    /// Reads a text that holds secrets; it is copied within secret memory and nowhere else.
    public init(
        _ bytes: borrowing SecretBytes, limit: Int = defaultLimit
    ) throws(JSONError) {
        guard bytes.count <= min(limit, Int(Int32.max)) else { throw .tooLarge }
        let nodes = try bytes.withBytes { (buffer) throws(JSONError) in
            try JSONParser.parse(buffer)
        }
        let secret = SharedSecret(bytes.copy())
        root = JSONValue(table: JSONTable(plain: [], secret: secret, nodes: nodes), index: 0)
    }

    /// The outermost value where it must be an object, as in every message and record.
    public func object() throws(JSONError) -> JSONObject { try root.object("document") }
}

/// A text and its nodes, shared by the values that point into it.
final class JSONTable: Sendable {
    let nodes: [JSONNode]
    private let plain: [UInt8]
    private let secret: SharedSecret?

    init(plain: [UInt8], secret: SharedSecret?, nodes: [JSONNode]) {
        self.plain = plain
        self.secret = secret
        self.nodes = nodes
    }

    /// The text of a node as it stands in the document.
    func withText<R, E: Error>(
        of node: JSONNode, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        if let secret {
            return try secret.bytes.withBytes { (bytes) throws(E) in
                try body(UnsafeRawBufferPointer(rebasing: bytes[node.range]))
            }
        }
        return try plain.withUnsafeBufferPointer { (buffer) throws(E) in
            try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[node.range]))
        }
    }

    /// The text of a string with its escapes undone, in secret memory where that needs a copy.
    func withString<R, E: Error>(
        of node: JSONNode, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        guard node.isSpecial else { return try withText(of: node, body) }
        var count = 0
        let unescaped = SecretBytes(count: node.range.count) { target in
            count = withText(of: node) { JSONText.unescape($0, into: target) }
        }
        return try unescaped.withBytes { (bytes) throws(E) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }
}
