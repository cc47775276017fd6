public import PropertyLists
public import Secrets

/// The generic passwords of a legacy keychain in a file, in one of three formats: a property list,
/// binary or XML, of a decrypted device backup's keychain, or lines of JSON.
///
/// A property list is a dictionary with an array `genp` of dictionaries with `svce`, `acct`, `agrp`
/// (texts, or data that is UTF-8) and `v_Data`. Other classes beside `genp` and other attributes
/// are passed over. A line of JSON is an object with `service`, `account`, `value` (base64) and, if
/// it likes, `group`.
///
/// Neither rows nor values are kept: rows are read one after the other, and a value when it is
/// asked for. All bytes of the source pass through secret memory alone.
public struct KeychainSource: Sendable {
    public enum Format: Sendable {
        case binaryPropertyList
        case xmlPropertyList
        case jsonLines
    }

    /// More rows are not read.
    public static let rowsMax = 1_000_000
    /// A row with more keys is damaged.
    public static let keysMax = 128
    /// Longer values are not read, in bytes as they stand in the source.
    public static let valueLengthMax = 2_097_152
    /// A longer line of JSON is a damaged row.
    public static let lineBytesMax = valueLengthMax + 8_192

    public let format: Format
    private let source: any ByteSource

    /// Tells the format by the first bytes.
    ///
    /// Throws ``KeychainError/unknownFormat`` or ``KeychainError/source(_:)``.
    public init(_ source: any ByteSource) throws(KeychainError) {
        self.source = source
        guard let format = try Self.format(of: source) else { throw .unknownFormat }
        self.format = format
    }

    /// The rows, from the first one on.
    ///
    /// Throws what ``KeychainRows/next()`` throws.
    public func rows() throws(KeychainError) -> KeychainRows {
        switch format {
        case .binaryPropertyList: KeychainRows(try BinaryRows(source))
        case .xmlPropertyList: KeychainRows(XMLRows(source))
        case .jsonLines: KeychainRows(JSONRows(source))
        }
    }

    /// Reads one value into secret memory.
    ///
    /// Throws ``KeychainError/noValue`` for a location that is not one of this source's, and
    /// ``KeychainError/source(_:)``. A value of a row that came as ``KeychainRow/item(_:)`` can be
    /// read unless the file changed.
    public func value(at location: ValueLocation) throws(KeychainError) -> SecretBytes {
        let value: SecretBytes?
        do throws(ByteSourceError) {
            value = try StoredValue.read(location, from: source)
        } catch {
            throw .source(error)
        }
        guard let value else { throw .noValue }
        return value
    }

    private static func format(of source: any ByteSource) throws(KeychainError) -> Format? {
        let heads: [(String, Format)] = [
            ("bplist00", .binaryPropertyList), ("<?xml", .xmlPropertyList),
            ("<!DOCTYPE", .xmlPropertyList), ("<plist", .xmlPropertyList), ("{", .jsonLines),
        ]
        for (head, format) in heads where head.utf8.count <= source.count {
            let bytes: SecretBytes
            do throws(ByteSourceError) {
                bytes = try source.secret(0..<head.utf8.count)
            } catch {
                throw .source(error)
            }
            if bytes.withBytes({ $0.elementsEqual(head.utf8) }) { return format }
        }
        return nil
    }
}
