/// A property list in Apple's XML form, read tag by tag.
///
/// Any bytes give an answer or a typed error. What is read is the part of XML that property lists
/// are written in: UTF-8, a declaration, a document type without a subset of its own, which is
/// passed over, comments between elements, the five named entities and numeric ones. Nothing is
/// ever fetched or expanded. Everything else that XML has is refused.
public struct XMLPropertyList: ~Copyable, Sendable {
    public enum Token: Equatable, Sendable {
        case beginDictionary
        case beginArray
        /// Of the innermost dictionary or array.
        case end
        /// Its text is ``XMLPropertyList/text``.
        case key
        /// Its text is ``XMLPropertyList/text``.
        case string
        /// Where the base64 text lies, white space and all; it is not looked into.
        case data(Range<Int>)
        /// A number, a date or a truth value.
        case other
        /// Nothing follows.
        case endOfList
    }

    /// How deep dictionaries and arrays may be nested.
    public static let depthMax = 32

    private var scanner: XMLScanner
    private var place = Place.before
    /// The open containers, the innermost last.
    private var open: [Container] = []
    /// Whether the container just begun was written as one empty element.
    private var isEndOwed = false

    private enum Place {
        case before
        case inside
        case after
    }

    private enum Container {
        case array
        /// A key comes next, or the end.
        case dictionary
        /// The value of a key comes next.
        case entry
    }

    public init(_ source: any ByteSource) { scanner = XMLScanner(source) }

    /// The text of the last key or string.
    public var text: ListText { scanner.text }

    /// The next part, in the order of the file.
    ///
    /// There is one value at the outermost level.
    public mutating func next() throws(PropertyListError) -> Token {
        if isEndOwed {
            isEndOwed = false
            return try close()
        }
        switch place {
        case .before:
            try scanner.prologue()
            place = .inside
        case .inside where open.isEmpty:
            try scanner.epilogue()
            place = .after
            return .endOfList
        case .inside: break
        case .after: return .endOfList
        }
        let tag = try scanner.tag()
        guard tag.form != .end else {
            guard tag.name == containerName else { throw .malformed }
            return try close()
        }
        return tag.name == .key ? try key(tag) : try value(tag)
    }

    /// Passes over the rest of the innermost container, its end too.
    public mutating func skipContainer() throws(PropertyListError) {
        let outer = open.count - 1
        while open.count > outer { _ = try next() }
    }

    /// Passes over a value whose first token was this one.
    public mutating func skip(_ token: Token) throws(PropertyListError) {
        if token == .beginDictionary || token == .beginArray { try skipContainer() }
    }

    private var containerName: XMLTag.Name? {
        switch open.last {
        case .array: .array
        case .dictionary: .dict
        // A key without a value.
        case .entry, nil: nil
        }
    }

    private mutating func key(_ tag: XMLTag) throws(PropertyListError) -> Token {
        guard open.last == .dictionary else { throw .malformed }
        open[open.count - 1] = .entry
        try scanner.text(of: tag)
        return .key
    }

    private mutating func value(_ tag: XMLTag) throws(PropertyListError) -> Token {
        switch open.last {
        case .dictionary: throw .malformed
        case .entry: open[open.count - 1] = .dictionary
        case .array, nil: break
        }
        switch tag.name {
        case .dict: return try begin(.dictionary, tag)
        case .array: return try begin(.array, tag)
        case .string:
            try scanner.text(of: tag)
            return .string
        case .data: return .data(try scanner.range(of: tag))
        case .integer, .real, .date:
            _ = try scanner.range(of: tag)
            return .other
        case .true, .false:
            guard tag.form == .empty else { throw .malformed }
            return .other
        case .key, .plist: throw .malformed
        }
    }

    private mutating func begin(
        _ container: Container, _ tag: XMLTag
    ) throws(PropertyListError) -> Token {
        guard open.count < Self.depthMax else { throw .tooDeep }
        open.append(container)
        isEndOwed = tag.form == .empty
        return container == .array ? .beginArray : .beginDictionary
    }

    private mutating func close() throws(PropertyListError) -> Token {
        open.removeLast()
        return .end
    }
}
