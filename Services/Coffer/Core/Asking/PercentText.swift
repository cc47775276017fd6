internal import Secrets

/// Bytes as lines of the Assuan protocol carry them: `%` and line ends as `%` and two digits.
enum PercentText {
    /// Undoes the escapes without a copy in ordinary memory.
    ///
    /// Nil where a `%` is not followed by two hexadecimal digits.
    static func decode(_ text: UnsafeRawBufferPointer) -> SecretBytes? {
        var count = 0
        var isWellFormed = true
        let decoded = SecretBytes(count: text.count) { target in
            var position = 0
            while position < text.count {
                var byte = text[position]
                position += 1
                if byte == 0x25 {
                    guard position + 1 < text.count, let high = digit(text[position]),
                        let low = digit(text[position + 1])
                    else {
                        isWellFormed = false
                        return
                    }
                    byte = high << 4 | low
                    position += 2
                }
                target[count] = byte
                count += 1
            }
        }
        guard isWellFormed else { return nil }
        return decoded.slice(0..<count)
    }

    /// Escapes what a line cannot carry, and ends the text where the line would be too long.
    static func encode(_ text: String, limit: Int = 800) -> String {
        var encoded = ""
        for character in text {
            let escaped =
                switch character {
                case "%": "%25"
                case "\n": "%0A"
                case "\r": "%0D"
                case "\r\n": "%0D%0A"
                default: String(character)
                }
            guard encoded.utf8.count + escaped.utf8.count <= limit else { return encoded }
            encoded += escaped
        }
        return encoded
    }

    private static func digit(_ letter: UInt8) -> UInt8? {
        switch letter {
        case 0x30...0x39: letter - 0x30
        case 0x41...0x46: letter - 0x41 + 10
        case 0x61...0x66: letter - 0x61 + 10
        default: nil
        }
    }
}
