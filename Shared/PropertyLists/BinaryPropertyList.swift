internal import Secrets

/// A property list in Apple's binary form, `bplist00`, read object by object.
///
/// Any bytes give an answer or a typed error. Nothing is kept but a few pages of the source: an
/// object is looked up in the table at the list's end when it is asked for, and none is looked into
/// that nobody asks for, so that references in a circle do no harm. A few bytes can refer to one
/// large object a million times: after ``workMax(_:)`` there is no more to be had.
public struct BinaryPropertyList: ~Copyable, Sendable {
    public static let signature = Array("bplist00".utf8)

    /// The number of an object in the list.
    public struct Reference: Hashable, Sendable {
        public let index: Int
    }

    /// An object, and where its content lies.
    public struct Object: Equatable, Sendable {
        public enum Kind: Sendable {
            case ascii
            /// Big-endian.
            case utf16
            case data
            case integer
            case uid
            case array
            case dictionary
            /// What is never looked into.
            case other
        }

        public let kind: Kind
        /// Bytes, characters, elements or entries.
        public let count: Int
        /// The bytes after marker and count; they lie within the source.
        public let content: Range<Int>
    }

    /// How much may be looked at in a list of so many bytes: an object and a reference count one,
    /// a text as many as it has bytes.
    ///
    /// What programs write takes up to twice its bytes, and an archive of short texts five times.
    public static func workMax(_ byteCount: Int) -> Int { 65_536 + 16 * byteCount }

    public let root: Reference
    private let table: ObjectTable
    private var bytes: PagedBytes
    private var workLeft: Int

    /// Reads the head and the trailer.
    public init(_ source: any ByteSource) throws(PropertyListError) {
        var bytes = PagedBytes(source)
        for (offset, byte) in Self.signature.enumerated() {
            guard try bytes.byte(at: offset) == byte else { throw .malformed }
        }
        table = try ObjectTable(&bytes)
        root = Reference(index: table.top)
        workLeft = Self.workMax(bytes.count)
        self.bytes = bytes
    }

    private mutating func spend(_ work: Int) throws(PropertyListError) {
        workLeft -= work
        guard workLeft >= 0 else { throw .tooLarge }
    }

    // MARK: Objects

    /// Throws ``PropertyListError/malformed`` for a number, a kind or an extent that cannot be, and
    /// ``PropertyListError/tooLarge`` where too much was looked at, as all that follows.
    public mutating func object(_ reference: Reference) throws(PropertyListError) -> Object {
        try spend(1)
        let offset = try table.offset(of: reference.index, in: &bytes)
        let marker = try bytes.byte(at: offset)
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x1 where low <= 4: return try fixed(.integer, at: offset + 1, byteCount: 1 << low)
        case 0x8: return try fixed(.uid, at: offset + 1, byteCount: low + 1)
        case 0x4: return try sized(.data, at: offset, unitBytes: 1)
        case 0x5: return try sized(.ascii, at: offset, unitBytes: 1)
        case 0x6: return try sized(.utf16, at: offset, unitBytes: 2)
        case 0xA: return try sized(.array, at: offset, unitBytes: table.referenceBytes)
        case 0xD: return try sized(.dictionary, at: offset, unitBytes: 2 * table.referenceBytes)
        case 0x0, 0x2, 0x3, 0xC: return try fixed(.other, at: offset + 1, byteCount: 0)
        default: throw .malformed
        }
    }

    private func fixed(
        _ kind: Object.Kind, at start: Int, byteCount: Int
    ) throws(PropertyListError) -> Object {
        guard byteCount <= table.start - start else { throw .malformed }
        return Object(kind: kind, count: byteCount, content: start..<start + byteCount)
    }

    /// An object whose count is in its marker or, from 15 on, in an integer after that.
    private mutating func sized(
        _ kind: Object.Kind, at offset: Int, unitBytes: Int
    ) throws(PropertyListError) -> Object {
        var start = offset + 1
        var count = Int(try bytes.byte(at: offset) & 0x0F)
        if count == 0x0F {
            let marker = try bytes.byte(at: start)
            guard marker >> 4 == 0x1, marker & 0x0F <= 3 else { throw .malformed }
            let width = 1 << Int(marker & 0x0F)
            count = try bytes.count(at: start + 1, width: width)
            start += 1 + width
        }
        guard start <= table.start, count <= (table.start - start) / unitBytes else {
            throw .malformed
        }
        return Object(kind: kind, count: count, content: start..<start + count * unitBytes)
    }

    // MARK: Contents

    /// An element of an array.
    ///
    /// Programmer error beyond its end, and for other objects.
    public mutating func element(
        _ index: Int, of array: Object
    ) throws(PropertyListError) -> Reference {
        precondition(array.kind == .array && array.count > index, "no such element")
        return try reference(index, in: array)
    }

    /// An entry of a dictionary.
    ///
    /// Programmer error beyond its end, and for other objects.
    public mutating func entry(
        _ index: Int, of dictionary: Object
    ) throws(PropertyListError) -> (key: Reference, value: Reference) {
        precondition(dictionary.kind == .dictionary && dictionary.count > index, "no such entry")
        return (
            try reference(index, in: dictionary),
            try reference(dictionary.count + index, in: dictionary)
        )
    }

    /// The value of a key; nil where there is none.
    ///
    /// Throws ``PropertyListError/malformed`` where a key is no text or stands twice, and
    /// ``PropertyListError/tooLarge`` for a dictionary with more than `keysMax` keys.
    public mutating func value(
        of key: String, in dictionary: Object, keysMax: Int
    ) throws(PropertyListError) -> Reference? {
        guard dictionary.count <= keysMax else { throw .tooLarge }
        var found: Reference?
        for index in 0..<dictionary.count {
            let entry = try entry(index, of: dictionary)
            guard try isKey(entry.key, key) else { continue }
            guard found == nil else { throw .malformed }
            found = entry.value
        }
        return found
    }

    /// Whether a key is this one; throws ``PropertyListError/malformed`` for a key that is no text.
    public mutating func isKey(
        _ reference: Reference, _ key: String
    ) throws(PropertyListError) -> Bool {
        let object = try object(reference)
        guard object.kind == .ascii || object.kind == .utf16 else { throw .malformed }
        guard object.count == key.utf16.count, let text = try text(of: object) else { return false }
        return text.equals(key)
    }

    private mutating func reference(
        _ index: Int, in object: Object
    ) throws(PropertyListError) -> Reference {
        try spend(1)
        let width = table.referenceBytes
        return Reference(
            index: try bytes.count(at: object.content.lowerBound + index * width, width: width))
    }

    /// A text, that of data too, which is read as UTF-8; nil for other objects.
    public mutating func text(of object: Object) throws(PropertyListError) -> ListText? {
        switch object.kind {
        case .ascii, .utf16, .data: break
        default: return nil
        }
        guard object.count <= ListText.bytesMax else { return .tooLong }
        try spend(object.content.count)
        let start = object.content.lowerBound
        let content = try SecretBytes(count: object.content.count) {
            target throws(PropertyListError) in
            try bytes.copy(at: start, into: target)
        }
        return content.withBytes { content in
            switch object.kind {
            case .ascii: content.allSatisfy { $0 < 0x80 } ? ListText(utf8: content) : .invalid
            case .utf16: ListText(utf16: content)
            default: ListText(utf8: content)
            }
        }
    }

    /// The value of an integer or a UID of at most eight bytes; nil for other objects.
    public mutating func unsigned(_ object: Object) throws(PropertyListError) -> UInt64? {
        guard object.kind == .integer || object.kind == .uid, object.count <= 8 else { return nil }
        return try bytes.unsigned(at: object.content.lowerBound, width: object.count)
    }
}

/// Where a list's objects lie, by its trailer.
private struct ObjectTable: Sendable {
    private static let trailerBytes = 32
    private static let byteCountMax = 1 << 40

    /// Bytes of an offset in the table, and of a reference to an object: one to eight.
    let offsetBytes: Int
    let referenceBytes: Int
    let count: Int
    let top: Int
    /// Where the table begins and the objects end.
    let start: Int

    /// Reads the last 32 bytes: six that mean nothing here, the two widths, and three numbers of
    /// eight bytes.
    ///
    /// The table fills what lies between the objects and the trailer.
    init(_ bytes: inout PagedBytes) throws(PropertyListError) {
        guard bytes.count <= Self.byteCountMax else { throw .tooLarge }
        let trailer = bytes.count - Self.trailerBytes
        guard trailer > BinaryPropertyList.signature.count else { throw .malformed }
        offsetBytes = Int(try bytes.byte(at: trailer + 6))
        referenceBytes = Int(try bytes.byte(at: trailer + 7))
        count = try bytes.count(at: trailer + 8, width: 8)
        top = try bytes.count(at: trailer + 16, width: 8)
        start = try bytes.count(at: trailer + 24, width: 8)
        guard 1...8 ~= offsetBytes, 1...8 ~= referenceBytes, top < count,
            start > BinaryPropertyList.signature.count, start < trailer,
            count == (trailer - start) / offsetBytes, (trailer - start) % offsetBytes == 0
        else { throw .malformed }
    }

    func offset(
        of index: Int, in bytes: inout PagedBytes
    ) throws(PropertyListError) -> Int {
        guard index < count else { throw .malformed }
        let offset = try bytes.count(at: start + index * offsetBytes, width: offsetBytes)
        guard BinaryPropertyList.signature.count..<start ~= offset else { throw .malformed }
        return offset
    }
}

extension PagedBytes {
    /// A big-endian number that an `Int` can hold.
    fileprivate mutating func count(at offset: Int, width: Int) throws(PropertyListError) -> Int {
        guard let count = Int(exactly: try unsigned(at: offset, width: width)) else {
            throw .malformed
        }
        return count
    }
}
