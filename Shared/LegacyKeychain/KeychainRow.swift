/// A row of a keychain, whole or not.
///
/// Rows come in the order of the file. None is left out, merged or mended: where one account stands
/// twice in a service, both come, and whoever reads decides.
public enum KeychainRow: Equatable, Sendable {
    case item(KeychainItem)
    case damaged(DamagedItem)
}

/// A generic password: what it is filed under, and where its value lies.
///
/// Texts are to be compared as bytes of UTF-8: String's `==` is canonical equivalence.
public struct KeychainItem: Equatable, Sendable {
    /// The number of the row, from 0.
    public let index: Int
    /// Empty where the row has none, as in the keychain.
    public let service: String
    public let account: String
    /// The access group; empty where the row has none.
    public let group: String
    public let value: ValueLocation
}

/// A row of which something cannot be read.
public struct DamagedItem: Equatable, Sendable {
    /// The number of the row, from 0.
    public let index: Int
    /// What is wrong, the first thing if there are several.
    public let damage: RowDamage
    /// Nil where it cannot be told: the row might be of any service.
    public let service: String?
    /// Nil where it cannot be told.
    public let account: String?
}

/// What is wrong with a row.
public enum RowDamage: Equatable, Sendable {
    /// It is no dictionary, no line of JSON, has more than ``KeychainSource/keysMax`` keys, or a
    /// key that cannot be read.
    case malformed
    case missing(RowField)
    /// The field is of a type that it never has.
    case wrongType(RowField)
    /// The field's bytes are no text, or no base64.
    case invalid(RowField)
    /// The field is longer than is read.
    case tooLong(RowField)
    /// The field stands there twice.
    case repeated(RowField)
}

/// What is read of a row.
public enum RowField: CaseIterable, Sendable {
    case service
    case account
    case group
    case value

    /// The key in a property list.
    var attribute: String {
        switch self {
        case .service: "svce"
        case .account: "acct"
        case .group: "agrp"
        case .value: "v_Data"
        }
    }

    /// The name in a line of JSON.
    var name: String {
        switch self {
        case .service: "service"
        case .account: "account"
        case .group: "group"
        case .value: "value"
        }
    }
}

/// Where a value lies in its source.
public struct ValueLocation: Hashable, Sendable {
    public enum Encoding: UInt8, Sendable {
        /// The bytes themselves.
        case raw
        /// Base64 with white space anywhere in it.
        case base64InXML
        /// Base64 in a JSON string, which may have escapes; the quotes are not part of it.
        case base64InJSON
    }

    public let offset: Int
    /// Bytes in the source.
    public let length: Int
    public let encoding: Encoding

    /// Any location may be tried: ``KeychainSource/value(at:)`` checks it.
    public init(offset: Int, length: Int, encoding: Encoding) {
        self.offset = offset
        self.length = length
        self.encoding = encoding
    }
}
