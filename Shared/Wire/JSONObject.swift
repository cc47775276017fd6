public import Secrets

/// An object of a document, with one accessor a type.
///
/// An explicit `null` reads as absent. Records ignore members that they do not know; messages end
/// with `refuseUnknownKeys`.
public struct JSONObject: Sendable {
    let value: JSONValue

    /// The member, or nil where it is absent or null.
    public func value(_ key: String) -> JSONValue? {
        guard let found = find(key), found.kind != .null else { return nil }
        return found
    }

    /// Whether the member is there and not null.
    public func has(_ key: String) -> Bool { value(key) != nil }

    /// The names of all members, in document order, those of null members too.
    public var keys: [String] {
        names.map { index in
            value.table.withString(of: value.table.nodes[index]) {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    /// Refuses an object with a member that `known` does not list.
    public func refuseUnknownKeys(_ known: [String]) throws(JSONError) {
        for index in names {
            let unknown: String? = value.table.withString(of: value.table.nodes[index]) { name in
                for key in known where name.isText(key) { return nil }
                return String(decoding: name, as: UTF8.self)
            }
            if let unknown { throw .unknownKey(Self.printable(unknown)) }
        }
    }

    // MARK: Required members

    public func string(_ key: String) throws(JSONError) -> String { try require(key).string(key) }

    public func integer(_ key: String) throws(JSONError) -> Int { try require(key).integer(key) }

    public func uint64(_ key: String) throws(JSONError) -> UInt64 { try require(key).uint64(key) }

    public func number(_ key: String) throws(JSONError) -> Double { try require(key).number(key) }

    public func bool(_ key: String) throws(JSONError) -> Bool { try require(key).bool(key) }

    public func base64(_ key: String) throws(JSONError) -> [UInt8] { try require(key).base64(key) }

    public func secretBase64(_ key: String) throws(JSONError) -> SecretBytes {
        try require(key).secretBase64(key)
    }

    public func hex(_ key: String, count: Int? = nil) throws(JSONError) -> [UInt8] {
        try require(key).hex(key, count: count)
    }

    public func identifier<T: TextIdentifier>(
        _ key: String, as type: T.Type = T.self
    ) throws(JSONError) -> T {
        try require(key).identifier(key)
    }

    public func object(_ key: String) throws(JSONError) -> JSONObject {
        try require(key).object(key)
    }

    public func array(_ key: String) throws(JSONError) -> [JSONValue] {
        try require(key).array(key)
    }

    public func objects(_ key: String) throws(JSONError) -> [JSONObject] {
        try array(key).map { (element) throws(JSONError) in try element.object(key) }
    }

    public func strings(_ key: String) throws(JSONError) -> [String] {
        try array(key).map { (element) throws(JSONError) in try element.string(key) }
    }

    public func identifiers<T: TextIdentifier>(
        _ key: String, as type: T.Type = T.self
    ) throws(JSONError) -> [T] {
        try array(key).map { (element) throws(JSONError) in try element.identifier(key) }
    }

    // MARK: Optional members

    public func optionalString(_ key: String) throws(JSONError) -> String? {
        try value(key)?.string(key)
    }

    public func optionalInteger(_ key: String) throws(JSONError) -> Int? {
        try value(key)?.integer(key)
    }

    public func optionalUInt64(_ key: String) throws(JSONError) -> UInt64? {
        try value(key)?.uint64(key)
    }

    public func optionalNumber(_ key: String) throws(JSONError) -> Double? {
        try value(key)?.number(key)
    }

    public func optionalBool(_ key: String) throws(JSONError) -> Bool? {
        try value(key)?.bool(key)
    }

    public func optionalBase64(_ key: String) throws(JSONError) -> [UInt8]? {
        try value(key)?.base64(key)
    }

    public func optionalSecretBase64(_ key: String) throws(JSONError) -> SecretBytes? {
        guard let value = value(key) else { return nil }
        return try value.secretBase64(key)
    }

    public func optionalHex(_ key: String, count: Int? = nil) throws(JSONError) -> [UInt8]? {
        try value(key)?.hex(key, count: count)
    }

    public func optionalIdentifier<T: TextIdentifier>(
        _ key: String, as type: T.Type = T.self
    ) throws(JSONError) -> T? {
        guard let value = value(key) else { return nil }
        return try value.identifier(key)
    }

    public func optionalObject(_ key: String) throws(JSONError) -> JSONObject? {
        try value(key)?.object(key)
    }

    public func optionalObjects(_ key: String) throws(JSONError) -> [JSONObject]? {
        has(key) ? try objects(key) : nil
    }

    public func optionalStrings(_ key: String) throws(JSONError) -> [String]? {
        has(key) ? try strings(key) : nil
    }

    // MARK: Looking up

    private func require(_ key: String) throws(JSONError) -> JSONValue {
        guard let value = value(key) else { throw .missing(key) }
        return value
    }

    /// Where the names of the members stand among the nodes; the value of each is the node after.
    private var names: MemberNames {
        MemberNames(
            nodes: value.table.nodes, position: value.index + 1, end: Int(value.node.next))
    }

    private func find(_ key: String) -> JSONValue? {
        let table = value.table
        for index in names where table.withString(of: table.nodes[index], { $0.isText(key) }) {
            return JSONValue(table: table, index: index + 1)
        }
        return nil
    }

    /// A name that a peer chose, only where it looks like one of ours.
    private static func printable(_ key: String) -> String {
        key.utf8.count <= 64 && key.utf8.allSatisfy(NameRule.admits) ? key : "?"
    }
}

/// The indices of an object's names, in document order.
private struct MemberNames: Sequence, IteratorProtocol {
    let nodes: [JSONNode]
    var position: Int
    let end: Int

    mutating func next() -> Int? {
        guard position < end else { return nil }
        defer { position = Int(nodes[position + 1].next) }
        return position
    }
}
