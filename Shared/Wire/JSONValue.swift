public import Secrets

/// One value of a document.
///
/// Accessors take the field's name for their errors.
public struct JSONValue: Sendable {
    /// What a value is; numbers are told apart by their accessors.
    public enum Kind: UInt8, Sendable {
        case null
        case bool
        case number
        case string
        case array
        case object
    }

    let table: JSONTable
    let index: Int

    public var kind: Kind { node.kind }

    /// Where its text stands in the document: that of a string lies between the quotes, with its
    /// escapes.
    public var range: Range<Int> { node.range }

    var node: JSONNode { table.nodes[index] }

    // MARK: Scalars

    /// The text of a string.
    public func string(_ field: String) throws(JSONError) -> String {
        try expect(.string, field)
        if node.isSpecial {
            return table.withString(of: node) { String(decoding: $0, as: UTF8.self) }
        }
        return table.withText(of: node) { String(decoding: $0, as: UTF8.self) }
    }

    /// An integer in integer syntax: `1.0`, `1e0`, `-0` and values beyond `Int` are refused.
    public func integer(_ field: String) throws(JSONError) -> Int {
        guard let value = Int(try integerText(field)) else { throw .wrongType(field) }
        return value
    }

    /// A non-negative integer in integer syntax, up to 2^64 - 1.
    public func uint64(_ field: String) throws(JSONError) -> UInt64 {
        guard let value = UInt64(try integerText(field)) else { throw .wrongType(field) }
        return value
    }

    /// Any JSON number whose nearest double is finite.
    public func number(_ field: String) throws(JSONError) -> Double {
        try expect(.number, field)
        let text = table.withText(of: node) { String(decoding: $0, as: UTF8.self) }
        guard let value = Double(text), value.isFinite else { throw .wrongType(field) }
        return value
    }

    public func bool(_ field: String) throws(JSONError) -> Bool {
        try expect(.bool, field)
        return node.range.count == 4
    }

    private func integerText(_ field: String) throws(JSONError) -> String {
        try expect(.number, field)
        guard !node.isSpecial, node.range.count <= 20 else { throw .wrongType(field) }
        let text = table.withText(of: node) { String(decoding: $0, as: UTF8.self) }
        guard text != "-0" else { throw .wrongType(field) }
        return text
    }

    // MARK: Bytes

    /// Bytes in standard base64 (RFC 4648 section 4) in its one canonical, padded form.
    public func base64(_ field: String) throws(JSONError) -> [UInt8] {
        try expect(.string, field)
        return try table.withString(of: node) { (text) throws(JSONError) in
            guard let bytes = Base64.standard.decode(text) else { throw .invalid(field) }
            return bytes
        }
    }

    /// As `base64`, decoded straight into secret memory.
    public func secretBase64(_ field: String) throws(JSONError) -> SecretBytes {
        try expect(.string, field)
        let count = try table.withString(of: node) { (text) throws(JSONError) in
            guard let count = Base64.standard.decodedCount(text) else { throw .invalid(field) }
            return count
        }
        return try SecretBytes(count: count) { (target) throws(JSONError) in
            try table.withString(of: node) { (text) throws(JSONError) in
                guard Base64.standard.decode(text, into: target) else { throw .invalid(field) }
            }
        }
    }

    /// Bytes in lower-case hexadecimal, exactly `count` of them where that is given.
    public func hex(_ field: String, count: Int? = nil) throws(JSONError) -> [UInt8] {
        try expect(.string, field)
        let decoded = table.withString(of: node) { Hex.decode($0) }
        guard let decoded, count == nil || decoded.count == count else { throw .invalid(field) }
        return decoded
    }

    /// A value of a type that has a checked text form.
    public func identifier<T: TextIdentifier>(
        _ field: String, as type: T.Type = T.self
    ) throws(JSONError) -> T {
        guard let value = T(try string(field)) else { throw .invalid(field) }
        return value
    }

    // MARK: Containers

    public func object(_ field: String) throws(JSONError) -> JSONObject {
        try expect(.object, field)
        return JSONObject(value: self)
    }

    /// The elements of an array.
    public func array(_ field: String) throws(JSONError) -> [JSONValue] {
        try expect(.array, field)
        var elements: [JSONValue] = []
        var position = index + 1
        while position < Int(node.next) {
            elements.append(JSONValue(table: table, index: position))
            position = Int(table.nodes[position].next)
        }
        return elements
    }

    private func expect(_ kind: Kind, _ field: String) throws(JSONError) {
        guard node.kind == kind else { throw .wrongType(field) }
    }
}
