/// Lower-case hexadecimal, the one form in which Coffer writes and reads it.
public enum Hex {
    public static func encode(_ bytes: [UInt8]) -> String {
        var letters: [UInt8] = []
        letters.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            letters.append(letter(byte >> 4))
            letters.append(letter(byte & 0x0F))
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// The bytes; nil for an odd length, an upper-case letter or anything else.
    public static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { decode(UnsafeRawBufferPointer($0)) }
    }

    static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for position in stride(from: 0, to: text.count, by: 2) {
            guard let high = value(text[position]), let low = value(text[position + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    static func value(_ letter: UInt8, upperCase: Bool = false) -> UInt8? {
        switch letter {
        case 0x30...0x39: letter - 0x30
        case 0x61...0x66: letter - 0x61 + 10
        case 0x41...0x46 where upperCase: letter - 0x41 + 10
        default: nil
        }
    }

    private static func letter(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }
}
