/// ZeroMQ's text form of binary keys (ZeroMQ RFC 32): five printable letters for four bytes.
public enum Z85 {
    private static let alphabet = Array(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
            .utf8)

    /// The letter's value, or 255, for every byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// The text; nil where the number of bytes is no multiple of four.
    public static func encode(_ bytes: [UInt8]) -> String? {
        guard bytes.count % 4 == 0 else { return nil }
        var letters: [UInt8] = []
        letters.reserveCapacity(bytes.count / 4 * 5)
        for start in stride(from: 0, to: bytes.count, by: 4) {
            let group = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            for divisor: UInt32 in [52_200_625, 614_125, 7_225, 85, 1] {
                letters.append(alphabet[Int(group / divisor % 85)])
            }
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// The bytes; nil for a wrong length, a foreign letter, or five letters beyond 32 bits.
    public static func decode(_ text: String) -> [UInt8]? {
        let letters = Array(text.utf8)
        guard letters.count % 5 == 0 else { return nil }
        let values = values
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count / 5 * 4)
        for start in stride(from: 0, to: letters.count, by: 5) {
            var group: UInt64 = 0
            for position in start..<start + 5 {
                let value = values[Int(letters[position])]
                guard value < 85 else { return nil }
                group = group * 85 + UInt64(value)
            }
            guard let group = UInt32(exactly: group) else { return nil }
            for shift: UInt32 in [24, 16, 8, 0] {
                bytes.append(UInt8(truncatingIfNeeded: group >> shift))
            }
        }
        return bytes
    }
}
