/// Escapes inside JSON strings.
enum JSONText {
    /// Writes the text that a checked JSON string stands for, and answers its length in bytes.
    ///
    /// `source` has passed the parser; `target` is at least as long, which always suffices.
    static func unescape(
        _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> Int {
        var reader = 0
        var written = 0
        func put(_ byte: UInt8) {
            target[written] = byte
            written += 1
        }
        func unit() -> UInt32 {
            let value = source[reader + 1..<reader + 5].reduce(UInt32(0)) {
                $0 << 4 | UInt32(Hex.value($1, upperCase: true) ?? 0)
            }
            reader += 5
            return value
        }
        while reader < source.count {
            guard source[reader] == 0x5C else {
                put(source[reader])
                reader += 1
                continue
            }
            reader += 1
            guard source[reader] == 0x75 else {
                put(plain(source[reader]))
                reader += 1
                continue
            }
            var scalar = unit()
            if scalar >= 0xD800 && scalar <= 0xDBFF {
                reader += 1
                scalar = 0x10000 + (scalar - 0xD800) << 10 + (unit() - 0xDC00)
            }
            encode(scalar, put)
        }
        return written
    }

    static func unescaped(_ source: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: source.count) { buffer, count in
            count = unescape(source, into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    private static func plain(_ letter: UInt8) -> UInt8 {
        switch letter {
        case 0x62: 0x08
        case 0x66: 0x0C
        case 0x6E: 0x0A
        case 0x72: 0x0D
        case 0x74: 0x09
        default: letter
        }
    }

    private static func encode(_ scalar: UInt32, _ put: (UInt8) -> Void) {
        func tail(_ shift: UInt32) { put(UInt8(0x80 | (scalar >> shift) & 0x3F)) }
        switch scalar {
        case 0..<0x80: put(UInt8(scalar))
        case 0x80..<0x800:
            put(UInt8(0xC0 | scalar >> 6))
            tail(0)
        case 0x800..<0x10000:
            put(UInt8(0xE0 | scalar >> 12))
            tail(6)
            tail(0)
        default:
            put(UInt8(0xF0 | (scalar >> 18) & 0x07))
            tail(12)
            tail(6)
            tail(0)
        }
    }
}
