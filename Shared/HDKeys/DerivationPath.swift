/// The way from a master key to one of its descendants, such as `m/44'/5'/0'/0/0`.
public struct DerivationPath: Hashable, Sendable, CustomStringConvertible {
    /// Deeper paths are refused.
    public static let levelCountMax = 10
    /// Added to an index to make it a hardened one.
    public static let hardened: UInt32 = 0x8000_0000

    /// Child numbers from the master key down; 2^31 and above are hardened.
    public let levels: [UInt32]

    public init(levels: [UInt32]) throws(HDKeyError) {
        guard levels.count <= Self.levelCountMax else { throw .pathTooDeep }
        self.levels = levels
    }

    /// Reads `m` and, for each level, a slash, a decimal index and `'` or `h` if it is hardened.
    ///
    /// An index is below 2^31 and has no leading zeros. Nothing else is taken: no
    /// blanks, signs, `H` or empty levels.
    public init(_ text: String) throws(HDKeyError) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: Self.levelCountMax + 1,
            omittingEmptySubsequences: false)
        guard let root = parts.first, root.elementsEqual("m".utf8) else { throw .malformedPath }
        guard parts.count - 1 <= Self.levelCountMax else { throw .pathTooDeep }
        var levels: [UInt32] = []
        for part in parts.dropFirst() { levels.append(try Self.level(part)) }
        self.levels = levels
    }

    /// Whether every level is hardened, as Ed25519 needs it; true for the master key itself.
    public var isHardenedThroughout: Bool { levels.allSatisfy { $0 >= Self.hardened } }

    public var description: String {
        levels.reduce(into: "m") { text, level in
            text += level >= Self.hardened ? "/\(level - Self.hardened)'" : "/\(level)"
        }
    }

    private static func level(_ part: Substring.UTF8View) throws(HDKeyError) -> UInt32 {
        var digits = part
        let isHardened = digits.last == UInt8(ascii: "'") || digits.last == UInt8(ascii: "h")
        if isHardened { digits.removeLast() }
        guard 1...digitCountMax ~= digits.count else { throw .malformedPath }
        guard digits.count == 1 || digits.first != UInt8(ascii: "0") else { throw .malformedPath }
        var index: UInt64 = 0
        for digit in digits {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { throw .malformedPath }
            index = index * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        guard index < UInt64(hardened) else { throw .malformedPath }
        return UInt32(index) | (isHardened ? hardened : 0)
    }

    /// 2^31 - 1 has ten digits.
    private static let digitCountMax = 10
}
