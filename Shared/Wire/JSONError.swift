/// Why bytes are not the JSON that was expected.
///
/// Cases name fields and offsets, never values, so that an error may be logged.
public enum JSONError: Error, Equatable, Sendable {
    /// The bytes stop being JSON (RFC 8259, read strictly) at this offset.
    case malformed(offset: Int)
    /// Containers are nested deeper than `JSONDocument.depthLimit`.
    case tooDeep
    /// The document is longer than the reader's limit in bytes.
    case tooLarge
    /// An object has the same key twice.
    case duplicateKey
    /// A required field is absent or null.
    case missing(String)
    /// A field is of another JSON type, or a number is not of the wanted form or range.
    case wrongType(String)
    /// A message has a field that it does not define.
    case unknownKey(String)
    /// A field has the right type and a value that is not allowed.
    case invalid(String)
}
