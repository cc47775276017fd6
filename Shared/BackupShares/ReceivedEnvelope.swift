/// An envelope as it came: bare, or in the wrapper of an earlier writer, which tells its place.
public struct ReceivedEnvelope: Equatable, Sendable {
    /// Which of the three a wrapped envelope is, and of which set.
    public struct Place: Equatable, Sendable {
        /// From 0 to 2.
        public let index: Int
        /// Random, the same in the three.
        public let setID: UInt32
    }

    public let envelope: ShareEnvelope
    /// Nil for a bare one.
    public let place: Place?

    /// Reads either form, told apart by the first four bytes.
    ///
    /// The wrapper: signature 0x1ea87158, index, count and set, each in four bytes little-endian,
    /// and the envelope as a TL byte string; 308 bytes in all for an envelope of 288. Throws
    /// ``ShareError/malformed``.
    public init(_ bytes: [UInt8]) throws(ShareError) {
        guard bytes.count <= Self.byteCountMax else { throw .malformed }
        guard bytes.starts(with: Self.wrapperSignature) else {
            envelope = try ShareEnvelope(bytes)
            place = nil
            return
        }
        guard bytes.count > Self.wrapperHeadBytes,
            Self.word(1, of: bytes) < ShareSplit.shareCount,
            Self.word(2, of: bytes) == ShareSplit.shareCount,
            let range = bytes.withUnsafeBytes({
                TLBytes.range(in: $0, from: Self.wrapperHeadBytes)
            })
        else { throw .malformed }
        envelope = try ShareEnvelope(Array(bytes[range]))
        place = Place(index: Int(Self.word(1, of: bytes)), setID: Self.word(3, of: bytes))
    }

    /// The three of one split in their order: that of their indices, or as given if they are bare.
    ///
    /// Throws ``ShareError/wrongCount(_:)`` unless they are three, and ``ShareError/notOneSet``
    /// where bare and wrapped ones meet, one comes twice, or the sets differ.
    public static func inOrder(
        _ received: [ReceivedEnvelope]
    ) throws(ShareError) -> [ReceivedEnvelope] {
        guard received.count == ShareSplit.shareCount else { throw .wrongCount(received.count) }
        guard Set(received.map(\.envelope.ephemeralKey)).count == received.count else {
            throw .notOneSet
        }
        let places = received.compactMap(\.place)
        if places.isEmpty { return received }
        guard places.count == received.count, Set(places.map(\.index)).count == places.count,
            Set(places.map(\.setID)).count == 1
        else { throw .notOneSet }
        return zip(places, received).sorted { $0.0.index < $1.0.index }.map(\.1)
    }

    /// 0x1ea87158, little-endian.
    static let wrapperSignature: [UInt8] = [0x58, 0x71, 0xa8, 0x1e]
    private static let wrapperHeadBytes = 16
    /// The longest envelope in a wrapper.
    private static let byteCountMax =
        wrapperHeadBytes + 4 + MessageKey.byteCount + MessageBox.messageBytesMax

    private static func word(_ index: Int, of bytes: [UInt8]) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[index * 4 + $1]) << (UInt32($1) * 8) }
    }
}
