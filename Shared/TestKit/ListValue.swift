/// A property list that a test makes, in either form.
public indirect enum ListValue: Sendable {
    case text(String)
    /// A text that the binary form has in UTF-16 whatever is in it.
    case wideText(String)
    case data([UInt8])
    case integer(UInt64)
    case bool(Bool)
    /// A date, in seconds.
    case date(Double)
    /// Binary only.
    case uid(UInt32)
    case array([ListValue])
    case dictionary([(String, ListValue)])

    // MARK: Binary

    /// `bplist00`, with equal texts as one object.
    public func binary() -> [UInt8] {
        var writer = BinaryListWriter()
        return writer.write(self)
    }

    // MARK: XML

    /// As Apple's tools write it, with the prologue.
    public func xml() -> [UInt8] {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
            "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            \(xmlElement)
            </plist>

            """
        return Array(text.utf8)
    }

    /// One element.
    public var xmlElement: String {
        switch self {
        case .text(let text), .wideText(let text): "<string>\(Self.escaped(text))</string>"
        case .data(let bytes): "<data>\n\(wrapped(base64(bytes)))</data>"
        case .integer(let value): "<integer>\(value)</integer>"
        case .bool(let value): value ? "<true/>" : "<false/>"
        case .date: "<date>2015-02-14T09:30:00Z</date>"
        case .uid(let value): "<dict><key>CF$UID</key><integer>\(value)</integer></dict>"
        case .array(let values):
            values.isEmpty
                ? "<array/>"
                : "<array>\n\(values.map(\.xmlElement).joined(separator: "\n"))\n</array>"
        case .dictionary(let entries):
            entries.isEmpty
                ? "<dict/>"
                : "<dict>\n"
                    + entries.map { "\t<key>\(Self.escaped($0.0))</key>\n\t\($0.1.xmlElement)\n" }
                    .joined() + "</dict>"
        }
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { all, character in
            switch character {
            case "&": all += "&amp;"
            case "<": all += "&lt;"
            case ">": all += "&gt;"
            default: all.append(character)
            }
        }
    }

    /// Lines of 68 letters behind a tab.
    private func wrapped(_ letters: String) -> String {
        var lines = ""
        var rest = letters[...]
        while !rest.isEmpty {
            lines += "\t\(rest.prefix(68))\n"
            rest = rest.dropFirst(68)
        }
        return lines + "\t"
    }
}

/// Numbers the objects of a list, and writes them with their table.
private struct BinaryListWriter {
    private var objects: [[UInt8]] = []
    private var texts: [String: Int] = [:]

    mutating func write(_ root: ListValue) -> [UInt8] {
        // References have four bytes here; the offsets are as short as they can be.
        let top = add(root)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let start = bytes.count
        let width = Self.bytes(of: UInt64(start))
        for offset in offsets { bytes += big(offset, width) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(width), UInt8(Self.referenceBytes)]
        return bytes + big(objects.count, 8) + big(top, 8) + big(start, 8)
    }

    private static let referenceBytes = 4

    private mutating func add(_ value: ListValue) -> Int {
        switch value {
        case .text(let text):
            if let known = texts[text] { return known }
            let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
            let number = append(isASCII ? head(0x5, text.utf8.count) + text.utf8 : wide(text))
            texts[text] = number
            return number
        case .wideText(let text): return append(wide(text))
        case .data(let bytes): return append(head(0x4, bytes.count) + bytes)
        case .integer(let value): return append(integer(value))
        case .bool(let value): return append([value ? 0x09 : 0x08])
        case .date(let value):
            return append([0x33] + big(Int(bitPattern: UInt(value.bitPattern)), 8))
        case .uid(let value):
            let width = Self.bytes(of: UInt64(value))
            return append([0x7F + UInt8(width)] + big(Int(value), width))
        case .array(let values):
            let number = append([])
            let references = values.map { add($0) }
            objects[number] = head(0xA, values.count) + references.flatMap(reference)
            return number
        case .dictionary(let entries):
            let number = append([])
            let keys = entries.map { add(.text($0.0)) }
            let values = entries.map { add($0.1) }
            objects[number] = head(0xD, entries.count) + (keys + values).flatMap(reference)
            return number
        }
    }

    private mutating func append(_ object: [UInt8]) -> Int {
        objects.append(object)
        return objects.count - 1
    }

    private func reference(_ number: Int) -> [UInt8] { big(number, Self.referenceBytes) }

    private func wide(_ text: String) -> [UInt8] {
        head(0x6, text.utf16.count) + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    private func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 0x0F] + integer(UInt64(count))
    }

    private func integer(_ value: UInt64) -> [UInt8] {
        let width = Self.bytes(of: value)
        let power = width > 4 ? 3 : width > 2 ? 2 : width - 1
        return [0x10 | UInt8(power)] + big(Int(bitPattern: UInt(value)), 1 << power)
    }

    /// How many bytes a number needs.
    private static func bytes(of value: UInt64) -> Int {
        max(1, (UInt64.bitWidth - value.leadingZeroBitCount + 7) / 8)
    }

    private func big(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * (width - 1 - $0))) }
    }
}

/// Base64 with padding (RFC 4648 section 4), written apart from the reader under test.
func base64(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for place in 0..<4 {
            text.append(
                place <= group.count ? letters[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}
