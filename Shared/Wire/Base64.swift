/// Base64 (RFC 4648) in its canonical form only: no blanks, no stray low bits, padding exactly as
/// the form has it.
///
/// Letters are mapped by arithmetic, without tables or branches on secret values.
public struct Base64: Sendable {
    /// RFC 4648 section 4, padded.
    public static let standard = Base64(plus: 0x2B, slash: 0x2F, isPadded: true)
    /// RFC 4648 section 5, unpadded, as PASETO has it.
    public static let url = Base64(plus: 0x2D, slash: 0x5F, isPadded: false)

    /// The letters for 62 and 63.
    private let plus: Int32
    private let slash: Int32
    private let isPadded: Bool

    // MARK: Encoding

    public func encode(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { source in
            let count = encodedCount(source.count)
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
                encode(source, into: UnsafeMutableRawBufferPointer(buffer))
                written = count
            }
        }
    }

    /// How many letters so many bytes take.
    public func encodedCount(_ count: Int) -> Int {
        isPadded ? (count + 2) / 3 * 4 : (count * 4 + 2) / 3
    }

    /// Writes exactly `encodedCount` letters.
    public func encode(
        _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) {
        precondition(target.count >= encodedCount(source.count), "the text has no room")
        var written = 0
        for start in stride(from: 0, to: source.count, by: 3) {
            let count = min(3, source.count - start)
            var group: UInt32 = 0
            for position in 0..<3 {
                group = group << 8 | (position < count ? UInt32(source[start + position]) : 0)
            }
            for position in 0...count {
                target[written] = letter(Int32(group >> (18 - 6 * UInt32(position)) & 0x3F))
                written += 1
            }
            if isPadded {
                for _ in count..<3 {
                    target[written] = 0x3D
                    written += 1
                }
            }
        }
    }

    private func letter(_ value: Int32) -> UInt8 {
        var letter = value + 65
        letter += ((25 - value) >> 8) & 6
        letter -= ((51 - value) >> 8) & 75
        let isPlus = mask(value, equals: 62)
        let isSlash = mask(value, equals: 63)
        letter = (letter & ~(isPlus | isSlash)) | (isPlus & plus) | (isSlash & slash)
        return UInt8(truncatingIfNeeded: letter)
    }

    // MARK: Decoding

    public func decode(_ text: [UInt8]) -> [UInt8]? {
        text.withUnsafeBytes { decode($0) }
    }

    public func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let count = decodedCount(text) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { decode(text, into: $0) } ? bytes : nil
    }

    /// How many bytes a text of this length and padding stands for; nil where none does.
    public func decodedCount(_ text: UnsafeRawBufferPointer) -> Int? {
        let count = text.count - paddingCount(text)
        guard count % 4 != 1, !isPadded || text.count % 4 == 0 else { return nil }
        return count / 4 * 3 + (count % 4 * 3) / 4
    }

    /// Decodes into exactly `decodedCount` bytes; false where the text is not canonical.
    public func decode(
        _ text: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let count = decodedCount(text), target.count == count else { return false }
        let letters = text.count - paddingCount(text)
        var flaws: Int32 = 0
        var written = 0
        for start in stride(from: 0, to: letters, by: 4) {
            var group: UInt32 = 0
            for position in start..<start + 4 {
                let value = position < letters ? value(Int32(text[position])) : 0
                flaws |= value
                group = group << 6 | UInt32(value & 0x3F)
            }
            for position in 0..<3 {
                let byte = UInt8(truncatingIfNeeded: group >> (16 - 8 * UInt32(position)))
                if written < count {
                    target[written] = byte
                    written += 1
                } else {
                    flaws |= -Int32(byte)
                }
            }
        }
        return flaws >= 0
    }

    /// The bytes of padding at the end, where the form has any.
    private func paddingCount(_ text: UnsafeRawBufferPointer) -> Int {
        guard isPadded, let last = text.last, last == 0x3D else { return 0 }
        return text.count > 1 && text[text.count - 2] == 0x3D ? 2 : 1
    }

    /// 0 to 63, or -1 for what is no letter.
    private func value(_ letter: Int32) -> Int32 {
        var value: Int32 = -1
        value += ((64 - letter) & (letter - 91)) >> 8 & (letter - 64)
        value += ((96 - letter) & (letter - 123)) >> 8 & (letter - 70)
        value += ((47 - letter) & (letter - 58)) >> 8 & (letter + 5)
        value += mask(letter, equals: plus) & 63
        value += mask(letter, equals: slash) & 64
        return value
    }

    /// All ones where the two are equal, otherwise zero; for values below 2^24.
    private func mask(_ value: Int32, equals other: Int32) -> Int32 {
        let difference = value ^ other
        return ~((difference | -difference) >> 31)
    }
}
