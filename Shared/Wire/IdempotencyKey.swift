/// Names one thing that a person asked for, so that asking again does it once.
public struct IdempotencyKey: TextIdentifier {
    /// How long a key is, in bytes.
    public static let byteCount = 16

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
