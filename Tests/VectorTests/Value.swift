import Wire

/// A JSON value taken out of its document, so that what was expected and what came out compare.
indirect enum Value: Sendable, CustomStringConvertible {
    case null
    case bool(Bool)
    /// Every integer of 64 bits, signed or not, keeps its exact value.
    case integer(Int128)
    case number(Double)
    case string(String)
    case array([Value])
    case object([String: Value])

    init(_ value: JSONValue) throws {
        switch value.kind {
        case .null: self = .null
        case .bool: self = .bool(try value.bool("value"))
        case .string: self = .string(try value.string("value"))
        case .array: self = .array(try value.array("value").map(Value.init))
        case .object: self = .object(try Value.members(of: value.object("value")))
        case .number:
            if let integer = try? value.integer("value") {
                self = .integer(Int128(integer))
            } else if let integer = try? value.uint64("value") {
                self = .integer(Int128(integer))
            } else {
                self = .number(try value.number("value"))
            }
        }
    }

    static func members(of object: JSONObject) throws -> [String: Value] {
        var members: [String: Value] = [:]
        for key in object.keys { members[key] = try object.value(key).map(Value.init) ?? .null }
        return members
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> Value {
        .string(bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
    }

    /// Equal, where numbers that are not both integers may differ by 1e-6 and a member that is null
    /// is the same as none.
    func matches(_ other: Value) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        // Bytes, because String's equality is canonical equivalence.
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.integer(let left), .integer(let right)): left == right
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.matches($1) }
        case (.object(let left), .object(let right)):
            Set(left.keys).union(right.keys).allSatisfy { key in
                (left[key] ?? .null).matches(right[key] ?? .null)
            }
        default:
            if let left = double, let right = other.double {
                abs(left - right) <= 1e-6
            } else {
                false
            }
        }
    }

    /// Two strings that hold the same JSON document, in whatever order and spacing.
    func matchesAsJSON(_ other: Value) -> Bool {
        guard let left = parsed, let right = other.parsed else { return false }
        return left.matches(right)
    }

    private var parsed: Value? {
        guard case .string(let text) = self else { return nil }
        return (try? JSONDocument(Array(text.utf8)).root).flatMap { try? Value($0) }
    }

    private var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .array(let values): "[\(values.map(\.description).joined(separator: ", "))]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }
                .map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
        }
    }
}
