/// A peer's long-term CURVE public key, which is who the peer is.
public struct PeerKey: TextIdentifier {
    /// How long a key is, in bytes.
    public static let byteCount = 32

    public let bytes: [UInt8]

    /// Nil unless there are exactly 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads the 40 letters of Z85.
    public init?(_ text: String) {
        guard let bytes = Z85.decode(text) else { return nil }
        self.init(bytes)
    }

    /// The 40 letters of Z85, as certificate files have them.
    public var z85: String { Z85.encode(bytes) ?? "" }

    public var text: String { z85 }
}
