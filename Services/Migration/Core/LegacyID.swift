/// A wallet as the legacy app named it: the rest of its account, compared byte for byte.
///
/// It is foreign text. A sound one has 1 to 16 lower-case hexadecimal digits.
public struct LegacyID: Hashable, Comparable, Sendable {
    public let text: String

    public init(_ text: some StringProtocol) { self.text = String(text) }

    // The equality of String is canonical equivalence, which is not that of accounts.
    public static func == (left: LegacyID, right: LegacyID) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8.max)
    }

    public static func < (left: LegacyID, right: LegacyID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
