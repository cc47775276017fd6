/// The form of certificate files: a part of ZPL (ZeroMQ RFC 4), as CZMQ and pyzmq write it.
///
/// A line without indentation opens a section, an indented one is `name = value`, `#` starts a
/// comment. Values come as positions, because one of them is a secret key.
enum CertificateText {
    /// One `name = value`.
    struct Field {
        /// The section's name; empty before the first.
        let section: String
        let name: String
        /// Where the value lies, without quotes.
        let value: Range<Int>
        let line: Int
    }

    /// The number of the first line that is not in the form.
    struct Malformed: Error, Equatable {
        let line: Int
    }

    /// Reads all fields; any bytes give fields or an error.
    static func fields(of text: UnsafeRawBufferPointer) throws(Malformed) -> [Field] {
        var fields: [Field] = []
        var section = ""
        var start = 0
        var line = 0
        while start < text.count {
            line += 1
            let end = text[start...].firstIndex(of: 0x0A) ?? text.count
            defer { start = end + 1 }
            let content = trimmed(start..<end, of: text)
            guard let first = content.first, text[first] != 0x23 else { continue }
            if content.lowerBound == start {
                section = try name(withoutComment(content, of: text), of: text, line: line)
            } else {
                fields.append(try field(content, of: text, section: section, line: line))
            }
        }
        return fields
    }

    private static func field(
        _ content: Range<Int>, of text: UnsafeRawBufferPointer, section: String, line: Int
    ) throws(Malformed) -> Field {
        guard let sign = text[content].firstIndex(of: 0x3D) else { throw Malformed(line: line) }
        let name = try name(trimmed(content.lowerBound..<sign, of: text), of: text, line: line)
        let rest = trimmed(sign + 1..<content.upperBound, of: text)
        let value = try value(rest, of: text, line: line)
        return Field(section: section, name: name, value: value, line: line)
    }

    /// A name is 1 to 64 of `A-Z a-z 0-9 . _ -`.
    private static func name(
        _ range: Range<Int>, of text: UnsafeRawBufferPointer, line: Int
    ) throws(Malformed) -> String {
        guard (1...64).contains(range.count), text[range].allSatisfy(isNameByte) else {
            throw Malformed(line: line)
        }
        return String(decoding: text[range], as: UTF8.self)
    }

    /// A quoted value ends at its quote; a bare one at a comment or the end of the line.
    private static func value(
        _ range: Range<Int>, of text: UnsafeRawBufferPointer, line: Int
    ) throws(Malformed) -> Range<Int> {
        guard let first = range.first, text[first] == 0x22 || text[first] == 0x27 else {
            return withoutComment(range, of: text)
        }
        let inner = first + 1
        guard let quote = text[inner..<range.upperBound].firstIndex(of: text[first]) else {
            throw Malformed(line: line)
        }
        let rest = trimmed(quote + 1..<range.upperBound, of: text)
        guard rest.isEmpty || text[rest.lowerBound] == 0x23 else { throw Malformed(line: line) }
        return inner..<quote
    }

    private static func withoutComment(
        _ range: Range<Int>, of text: UnsafeRawBufferPointer
    ) -> Range<Int> {
        let end = text[range].firstIndex(of: 0x23) ?? range.upperBound
        return trimmed(range.lowerBound..<end, of: text)
    }

    private static func trimmed(
        _ range: Range<Int>, of text: UnsafeRawBufferPointer
    ) -> Range<Int> {
        var range = range
        while let first = range.first, isBlank(text[first]) {
            range = first + 1..<range.upperBound
        }
        while let last = range.last, isBlank(text[last]) { range = range.lowerBound..<last }
        return range
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x2E, 0x5F, 0x2D: true
        default: false
        }
    }
}
