/// One value of a parsed document: its kind and where its text is.
///
/// Nodes stand in document order. An object's members follow it as name, value, name, value; an
/// array's elements follow it; `next` is the index just after the whole value.
struct JSONNode: Sendable {
    var kind: JSONValue.Kind
    /// Whether a string holds an escape, or a number is more than an integer's syntax.
    var isSpecial = false
    /// The text, without the quotes of a string.
    var start: Int32
    var end: Int32
    var next: Int32 = 0

    var range: Range<Int> { Int(start)..<Int(end) }
}

/// Reads strict JSON (RFC 8259) into a flat table of nodes that hold offsets only, in time linear
/// in the length of the text.
///
/// It refuses what RFC 8259 leaves open: repeated names, deep nesting, a byte order mark, lone
/// surrogates.
struct JSONParser {
    private let text: UnsafeRawBufferPointer
    private var offset = 0
    private var nodes: [JSONNode] = []

    /// Above this many members the names of an object are compared through a hash table.
    private static let pairwiseLimit = 16
    /// As many nodes as most messages have, and as many members as most objects.
    private static let usualNodes = 32
    private static let usualMembers = 8

    /// Parses a text of at most `Int32.max` bytes.
    static func parse(_ text: UnsafeRawBufferPointer) throws(JSONError) -> [JSONNode] {
        var parser = JSONParser(text: text)
        parser.nodes.reserveCapacity(usualNodes)
        parser.skipBlanks()
        try parser.value(depth: 1)
        parser.skipBlanks()
        guard parser.offset == text.count else { throw parser.malformed }
        return parser.nodes
    }

    private init(text: UnsafeRawBufferPointer) { self.text = text }

    private var malformed: JSONError { .malformed(offset: offset) }

    /// The next byte; 0, which no JSON text has outside an error, at the end.
    private var current: UInt8 { offset < text.count ? text[offset] : 0 }

    private mutating func skipBlanks() {
        while offset < text.count {
            switch text[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            default: return
            }
        }
    }

    private mutating func value(depth: Int) throws(JSONError) {
        switch current {
        case 0x7B: try object(depth: depth)
        case 0x5B: try array(depth: depth)
        case 0x22: try string()
        case 0x2D, 0x30...0x39: try number()
        case 0x74: try literal("true", .bool)
        case 0x66: try literal("false", .bool)
        case 0x6E: try literal("null", .null)
        default: throw malformed
        }
    }

    // MARK: Containers

    private mutating func object(depth: Int) throws(JSONError) {
        let index = try open(.object, depth: depth)
        var names: [Int] = []
        if current != 0x7D {
            names.reserveCapacity(Self.usualMembers)
            while true {
                guard current == 0x22 else { throw malformed }
                names.append(nodes.count)
                try string()
                skipBlanks()
                guard current == 0x3A else { throw malformed }
                offset += 1
                skipBlanks()
                try value(depth: depth + 1)
                guard try goesOn(until: 0x7D) else { break }
            }
        }
        close(index)
        try refuseRepeated(names)
    }

    private mutating func array(depth: Int) throws(JSONError) {
        let index = try open(.array, depth: depth)
        if current != 0x5D {
            while true {
                try value(depth: depth + 1)
                guard try goesOn(until: 0x5D) else { break }
            }
        }
        close(index)
    }

    private mutating func open(_ kind: JSONValue.Kind, depth: Int) throws(JSONError) -> Int {
        guard depth <= JSONDocument.depthLimit else { throw .tooDeep }
        nodes.append(JSONNode(kind: kind, start: Int32(offset), end: Int32(offset)))
        offset += 1
        skipBlanks()
        return nodes.count - 1
    }

    private mutating func close(_ index: Int) {
        offset += 1
        nodes[index].end = Int32(offset)
        nodes[index].next = Int32(nodes.count)
    }

    /// After an element: true when a comma announces another one, false before the closing bracket.
    private mutating func goesOn(until bracket: UInt8) throws(JSONError) -> Bool {
        skipBlanks()
        if current == bracket { return false }
        guard current == 0x2C else { throw malformed }
        offset += 1
        skipBlanks()
        return true
    }

    private func refuseRepeated(_ names: [Int]) throws(JSONError) {
        guard names.count > 1 else { return }
        if names.count <= Self.pairwiseLimit, names.allSatisfy({ !nodes[$0].isSpecial }) {
            for position in names.indices {
                let name = slice(nodes[names[position]].range)
                for earlier in 0..<position
                where slice(nodes[names[earlier]].range).isSame(as: name) {
                    throw .duplicateKey
                }
            }
            return
        }
        var seen: Set<[UInt8]> = []
        for name in names {
            let bytes = JSONText.unescaped(slice(nodes[name].range))
            guard seen.insert(bytes).inserted else { throw .duplicateKey }
        }
    }

    private func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[range])
    }

    // MARK: Scalars

    private mutating func literal(
        _ word: StaticString, _ kind: JSONValue.Kind
    ) throws(JSONError) {
        let start = offset
        let end = start + word.utf8CodeUnitCount
        guard end <= text.count else { throw malformed }
        for position in 0..<word.utf8CodeUnitCount
        where text[start + position] != word.utf8Start[position] {
            throw malformed
        }
        offset = end
        append(kind, from: start, to: end)
    }

    private mutating func number() throws(JSONError) {
        let start = offset
        if current == 0x2D { offset += 1 }
        if current == 0x30 { offset += 1 } else { try digits() }
        var isSpecial = false
        if current == 0x2E {
            isSpecial = true
            offset += 1
            try digits()
        }
        if current == 0x65 || current == 0x45 {
            isSpecial = true
            offset += 1
            if current == 0x2B || current == 0x2D { offset += 1 }
            try digits()
        }
        append(.number, from: start, to: offset, isSpecial: isSpecial)
    }

    private mutating func digits() throws(JSONError) {
        guard (0x30...0x39).contains(current) else { throw malformed }
        while (0x30...0x39).contains(current) { offset += 1 }
    }

    private mutating func string() throws(JSONError) {
        offset += 1
        let start = offset
        var isSpecial = false
        while offset < text.count {
            switch text[offset] {
            case 0x22:
                append(.string, from: start, to: offset, isSpecial: isSpecial)
                offset += 1
                return
            case 0x5C:
                isSpecial = true
                try escape()
            case 0x20...0x7F: offset += 1
            case 0x80...: try sequence()
            default: throw malformed
            }
        }
        throw malformed
    }

    private mutating func append(
        _ kind: JSONValue.Kind, from start: Int, to end: Int, isSpecial: Bool = false
    ) {
        nodes.append(
            JSONNode(
                kind: kind, isSpecial: isSpecial, start: Int32(start), end: Int32(end),
                next: Int32(nodes.count + 1)))
    }

    /// A backslash and what follows it.
    private mutating func escape() throws(JSONError) {
        offset += 1
        switch current {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: offset += 1
        case 0x75:
            let unit = try codeUnit()
            if (0xDC00...0xDFFF).contains(unit) { throw malformed }
            guard (0xD800...0xDBFF).contains(unit) else { return }
            guard current == 0x5C else { throw malformed }
            offset += 1
            guard current == 0x75 else { throw malformed }
            let second = try codeUnit()
            guard (0xDC00...0xDFFF).contains(second) else { throw malformed }
        default: throw malformed
        }
    }

    /// The `u` and four digits of an escape.
    private mutating func codeUnit() throws(JSONError) -> UInt32 {
        offset += 1
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Hex.value(current, upperCase: true) else { throw malformed }
            unit = unit << 4 | UInt32(digit)
            offset += 1
        }
        return unit
    }

    /// One UTF-8 sequence of two to four bytes, in its only form (RFC 3629).
    private mutating func sequence() throws(JSONError) {
        let (count, second): (Int, ClosedRange<UInt8>)
        switch text[offset] {
        case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
        case 0xE0: (count, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE...0xEF: (count, second) = (3, 0x80...0xBF)
        case 0xED: (count, second) = (3, 0x80...0x9F)
        case 0xF0: (count, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
        case 0xF4: (count, second) = (4, 0x80...0x8F)
        default: throw malformed
        }
        guard offset + count <= text.count, second.contains(text[offset + 1]) else {
            throw malformed
        }
        for position in 2..<max(2, count) where text[offset + position] & 0xC0 != 0x80 {
            throw malformed
        }
        offset += count
    }
}
