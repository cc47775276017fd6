internal import Secrets

/// The letters of an XML property list: prologue, tags and texts.
struct XMLScanner: ~Copyable, Sendable {
    private var bytes: PagedBytes
    private var offset = 0
    /// The last text, as far as there is room for it.
    private var captured = SecretBytes(count: ListText.bytesMax)
    private var capturedCount = 0
    private var isTooLong = false

    init(_ source: any ByteSource) { bytes = PagedBytes(source) }

    var text: ListText {
        if isTooLong { return .tooLong }
        let count = capturedCount
        return captured.withBytes { ListText(utf8: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    // MARK: Before and after the value

    /// Reads up to the first tag within `<plist>`.
    mutating func prologue() throws(PropertyListError) {
        if try takes("<?xml") { try declaration() }
        try skipBetween()
        if try takes("<!DOCTYPE") {
            try documentType()
            try skipBetween()
        }
        guard try takes("<plist") else { throw .malformed }
        let attributes = try attributes()
        guard attributes.allSatisfy({ $0 == ("version", "1.0") }), attributes.count <= 1,
            try takes(">")
        else { throw .malformed }
    }

    /// Reads the end of `<plist>`, after which only comments and white space may follow.
    mutating func epilogue() throws(PropertyListError) {
        guard try tag() == XMLTag(form: .end, name: .plist) else { throw .malformed }
        try skipBetween()
        guard offset == bytes.count else { throw .malformed }
    }

    /// The rest of `<?xml … ?>`.
    private mutating func declaration() throws(PropertyListError) {
        let attributes = try attributes()
        guard attributes.first.map({ $0 == ("version", "1.0") }) == true, try takes("?>") else {
            throw .malformed
        }
        for (name, value) in attributes.dropFirst() {
            let isAllowed =
                switch name {
                case "encoding": value.lowercased() == "utf-8"
                case "standalone": value == "yes" || value == "no"
                default: false
                }
            guard isAllowed else { throw .malformed }
        }
    }

    /// Passes over the rest of a document type; one with a subset of its own is refused.
    private mutating func documentType() throws(PropertyListError) {
        guard try takesBlank() else { throw .malformed }
        while true {
            switch try take() {
            case 0x3E: return
            case 0x5B, 0x3C: throw .malformed
            case let quote where quote == 0x22 || quote == 0x27: try skip(through: quote)
            default: break
            }
        }
    }

    /// Names and values up to what is no attribute; both are short and ASCII.
    private mutating func attributes() throws(PropertyListError) -> [(String, String)] {
        var attributes: [(String, String)] = []
        while try takesBlank(), try isLetter() {
            guard attributes.count < Self.attributesMax else { throw .malformed }
            let name = try word { 0x61...0x7A ~= $0 }
            try skipBlanks()
            guard try take() == 0x3D else { throw .malformed }
            try skipBlanks()
            let quote = try take()
            guard quote == 0x22 || quote == 0x27 else { throw .malformed }
            let value = try word { $0 != quote && 0x20...0x7E ~= $0 && $0 != 0x3C && $0 != 0x26 }
            guard try take() == quote else { throw .malformed }
            attributes.append((name, value))
        }
        return attributes
    }

    private static let attributesMax = 3
    private static let wordBytesMax = 16

    private mutating func isLetter() throws(PropertyListError) -> Bool {
        0x61...0x7A ~= (try bytes.byte(at: offset))
    }

    private mutating func word(
        _ admits: (UInt8) -> Bool
    ) throws(PropertyListError) -> String {
        var word: [UInt8] = []
        while true {
            let byte = try bytes.byte(at: offset)
            guard admits(byte) else { break }
            guard word.count < Self.wordBytesMax else { throw .malformed }
            word.append(byte)
            offset += 1
        }
        return String(decoding: word, as: UTF8.self)
    }

    // MARK: Tags

    /// The next tag, which only comments and white space may come before.
    mutating func tag() throws(PropertyListError) -> XMLTag {
        try skipBetween()
        return try tagHere()
    }

    private mutating func tagHere() throws(PropertyListError) -> XMLTag {
        guard try take() == 0x3C else { throw .malformed }
        var form = try takes("/") ? XMLTag.Form.end : .begin
        guard let name = XMLTag.Name(rawValue: try word { 0x61...0x7A ~= $0 }) else {
            throw .malformed
        }
        try skipBlanks()
        if form == .begin, try takes("/") { form = .empty }
        guard try take() == 0x3E else { throw .malformed }
        return XMLTag(form: form, name: name)
    }

    private mutating func endTag(of tag: XMLTag) throws(PropertyListError) {
        guard try tagHere() == XMLTag(form: .end, name: tag.name) else { throw .malformed }
    }

    // MARK: Texts

    /// Reads the text of an element whose first tag this is, and its end.
    mutating func text(of tag: XMLTag) throws(PropertyListError) {
        capturedCount = 0
        isTooLong = false
        guard tag.form == .begin else { return }
        while true {
            let byte = try bytes.byte(at: offset)
            switch byte {
            case 0x3C:
                try endTag(of: tag)
                return
            case 0x26:
                offset += 1
                try entity()
            case 0x20..., 0x09, 0x0A, 0x0D:
                offset += 1
                capture(byte)
            default: throw .malformed
            }
        }
    }

    /// Where the text of an element whose first tag this is lies; reads its end too.
    ///
    /// An element within it is refused.
    mutating func range(of tag: XMLTag) throws(PropertyListError) -> Range<Int> {
        guard tag.form == .begin else { return offset..<offset }
        guard let end = try bytes.next(0x3C, from: offset) else { throw .malformed }
        let range = offset..<end
        offset = end
        try endTag(of: tag)
        return range
    }

    /// What an ampersand begins: `&amp;` and its like, `&#38;` or `&#x26;`.
    private mutating func entity() throws(PropertyListError) {
        if try takes("#") {
            let scalar = try takes("x") ? try number(radix: 16) : try number(radix: 10)
            for byte in String(Character(scalar)).utf8 { capture(byte) }
            return
        }
        let name = try word { 0x61...0x7A ~= $0 }
        guard let byte = Self.entities[name], try take() == 0x3B else { throw .malformed }
        capture(byte)
    }

    private static let entities: [String: UInt8] = [
        "amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27,
    ]

    /// Digits and a semicolon, for a character that XML 1.0 has.
    private mutating func number(radix: UInt32) throws(PropertyListError) -> Unicode.Scalar {
        var value: UInt32 = 0
        var digits = 0
        while true {
            let byte = try take()
            if byte == 0x3B { break }
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, digit < radix else {
                throw .malformed
            }
            value = value * radix + UInt32(digit)
            digits += 1
            guard value <= 0x10_FFFF else { throw .malformed }
        }
        guard digits > 0, let scalar = Unicode.Scalar(value) else { throw .malformed }
        switch value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x1_0000...: return scalar
        default: throw .malformed
        }
    }

    private mutating func capture(_ byte: UInt8) {
        guard capturedCount < ListText.bytesMax else {
            isTooLong = true
            return
        }
        let place = capturedCount
        captured.withMutableBytes { $0[place] = byte }
        capturedCount += 1
    }

    // MARK: Letters

    private mutating func take() throws(PropertyListError) -> UInt8 {
        let byte = try bytes.byte(at: offset)
        offset += 1
        return byte
    }

    /// Passes over a word, if it stands here whole.
    private mutating func takes(_ word: StaticString) throws(PropertyListError) -> Bool {
        let count = word.utf8CodeUnitCount
        guard count <= bytes.count - offset else { return false }
        for position in 0..<count {
            guard try bytes.byte(at: offset + position) == word.utf8Start[position] else {
                return false
            }
        }
        offset += count
        return true
    }

    /// Passes over white space, and says whether there was any.
    private mutating func takesBlank() throws(PropertyListError) -> Bool {
        let start = offset
        try skipBlanks()
        return offset > start
    }

    private mutating func skipBlanks() throws(PropertyListError) {
        while offset < bytes.count {
            switch try bytes.byte(at: offset) {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            default: return
            }
        }
    }

    /// Passes over white space and comments.
    private mutating func skipBetween() throws(PropertyListError) {
        try skipBlanks()
        while try takes("<!--") {
            repeat { try skip(through: 0x2D) } while try !takes("-")
            guard try take() == 0x3E else { throw .malformed }
            try skipBlanks()
        }
    }

    private mutating func skip(through byte: UInt8) throws(PropertyListError) {
        guard let found = try bytes.next(byte, from: offset) else { throw .malformed }
        offset = found + 1
    }
}
