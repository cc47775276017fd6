public import Secrets

/// A value bound to a parameter of a statement.
public enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    /// Bound from secret memory, without a copy outside SQLite.
    case secret(SharedSecret)

    /// The bytes, or NULL where there are none.
    public static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map(blob) ?? .null }

    /// The text, or NULL where there is none.
    public static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }

    /// The number, or NULL where there is none.
    public static func optional(_ number: Int64?) -> SQLValue { number.map(integer) ?? .null }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral
{
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(nilLiteral: ()) { self = .null }
}
