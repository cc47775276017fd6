/// A text of a property list, as far as it is one.
public enum ListText: Equatable, Sendable {
    case text(String)
    /// It is longer than ``bytesMax``.
    case tooLong
    /// The bytes are no text in the encoding that they should have.
    case invalid

    /// How long a text may be, in bytes of UTF-8.
    public static let bytesMax = 1_024

    /// Whether it is this text, byte by byte: String's `==` is canonical equivalence.
    public func equals(_ other: String) -> Bool {
        guard case .text(let text) = self else { return false }
        return text.utf8.elementsEqual(other.utf8)
    }

    /// Reads UTF-8 (RFC 3629), strictly.
    public init(utf8 bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.bytesMax else {
            self = .tooLong
            return
        }
        self = String(validating: bytes, as: UTF8.self).map(ListText.text) ?? .invalid
    }

    /// Reads big-endian UTF-16 in which surrogates come in pairs; the count is even.
    init(utf16 bytes: UnsafeRawBufferPointer) {
        let units = stride(from: 0, to: bytes.count, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            self = .invalid
            return
        }
        self = text.utf8.count <= Self.bytesMax ? .text(text) : .tooLong
    }
}
