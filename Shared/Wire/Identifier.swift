/// What one thing is called: 16 bytes, in lower-case hexadecimal on the wire.
///
/// Names of different kinds of things are different types.
public struct Identifier<Named>: TextIdentifier {
    /// How long a name is, in bytes.
    public static var byteCount: Int { 16 }

    public let bytes: [UInt8]

    /// Nil unless there are exactly 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 32 lower-case hexadecimal digits.
    public init?(_ text: String) {
        guard let bytes = Hex.decode(text) else { return nil }
        self.init(bytes)
    }

    public var text: String { Hex.encode(bytes) }
}
