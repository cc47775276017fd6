/// White space of Unicode (the property White_Space) in UTF-8 bytes.
enum WhiteSpace {
    /// Copies text with every run of white space as one space and none at either end.
    ///
    /// Returns the length. The target is at least as long as the text.
    static func collapse(
        _ text: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> Int {
        var length = 0
        var isSpaceOwed = false
        var index = 0
        while index < text.count {
            let space = spaceByteCount(at: index, in: text)
            if space > 0 {
                isSpaceOwed = length > 0
                index += space
                continue
            }
            if isSpaceOwed {
                target[length] = UInt8(ascii: " ")
                length += 1
                isSpaceOwed = false
            }
            target[length] = text[index]
            length += 1
            index += 1
        }
        return length
    }

    /// How many bytes the white space at this place has; 0 if there is none.
    private static func spaceByteCount(at index: Int, in text: UnsafeRawBufferPointer) -> Int {
        func byte(_ offset: Int) -> UInt8 {
            index + offset < text.count ? text[index + offset] : 0
        }
        switch (byte(0), byte(1), byte(2)) {
        case (0x09...0x0D, _, _), (0x20, _, _): return 1
        case (0xC2, 0x85, _), (0xC2, 0xA0, _): return 2  // next line, no-break space
        case (0xE1, 0x9A, 0x80): return 3  // ogham space mark
        case (0xE2, 0x80, 0x80...0x8A): return 3  // en quad to hair space
        case (0xE2, 0x80, 0xA8), (0xE2, 0x80, 0xA9): return 3  // line and paragraph separator
        case (0xE2, 0x80, 0xAF), (0xE2, 0x81, 0x9F): return 3  // narrow and mathematical space
        case (0xE3, 0x80, 0x80): return 3  // ideographic space
        default: return 0
        }
    }
}
