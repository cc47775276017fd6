/// Why bytes are not a text that can be normalized.
public enum TextError: Error, Equatable, Sendable {
    /// Not UTF-8 in its one valid form: a broken or overlong sequence, or a lone surrogate.
    case invalidUTF8
    /// More than `UnicodeText.inputBytesMax` bytes.
    case tooLong
}
