public import Secrets

/// Archives that Apple's `NSKeyedArchiver` makes of an array of strings, with secure coding or
/// without it.
///
/// An archive is read only where it is exactly that: an `NSArray` or `NSMutableArray` whose
/// elements are `NSString` or `NSMutableString`. Anything else, an element that is null or a
/// missing list of elements too, is an error and never an empty or shorter array.
public enum KeyedArchive {
    /// Longer archives are not read.
    public static let byteCountMax = 2_097_152
    /// Longer arrays are not read.
    public static let stringsMax = 100_000

    /// The strings in their order.
    ///
    /// Each has at most ``ListText/bytesMax`` bytes, and all together have no more than twice those
    /// of the archive, or 65,536: an archive could otherwise name one long string a million times.
    public static func strings(in bytes: [UInt8]) throws(PropertyListError) -> [String] {
        try strings(in: SecretBytes(copying: bytes))
    }

    /// The strings of an archive in secret memory.
    public static func strings(
        in bytes: borrowing SecretBytes
    ) throws(PropertyListError) -> [String] {
        guard bytes.count <= byteCountMax else { throw .tooLarge }
        let source = MemorySource(SharedSecret(bytes.copy()))
        var reader = try ArchiveReader(source)
        return try reader.strings(bytesMax: max(65_536, 2 * bytes.count))
    }
}

/// No dictionary of such an archive has more than four keys.
private let archiveKeysMax = 8

/// Follows the references of an archive: the root dictionary names the object that was archived,
/// by its number in the array `$objects`, and objects name others by such numbers, which are UIDs.
private struct ArchiveReader: ~Copyable {
    private var list: BinaryPropertyList
    private let objects: BinaryPropertyList.Object
    private let root: BinaryPropertyList.Object

    init(_ source: some ByteSource) throws(PropertyListError) {
        var list = try BinaryPropertyList(source)
        let head = try list.object(list.root)
        let archiver = try list.required("$archiver", in: head)
        let version = try list.required("$version", in: head)
        guard try list.string(archiver)?.equals("NSKeyedArchiver") == true,
            version.kind == .integer, try list.unsigned(version) == 100_000
        else { throw .unexpected }
        let objects = try list.required("$objects", in: head)
        guard objects.kind == .array else { throw .unexpected }
        let top = try list.required("$top", in: head)
        let root = try list.archived(list.required("root", in: top), in: objects)
        self.init(list: list, objects: objects, root: root)
    }

    private init(
        list: consuming BinaryPropertyList, objects: BinaryPropertyList.Object,
        root: BinaryPropertyList.Object
    ) {
        self.list = list
        self.objects = objects
        self.root = root
    }

    mutating func strings(bytesMax: Int) throws(PropertyListError) -> [String] {
        let array = root
        guard ["NSArray", "NSMutableArray"].contains(try className(of: array)) else {
            throw .unexpected
        }
        let elements = try list.required("NS.objects", in: array)
        guard elements.kind == .array else { throw .unexpected }
        guard elements.count <= KeyedArchive.stringsMax else { throw .tooLarge }
        var strings: [String] = []
        strings.reserveCapacity(elements.count)
        var bytesLeft = bytesMax
        for index in 0..<elements.count {
            let uid = try list.object(list.element(index, of: elements))
            let text = try string(list.archived(uid, in: objects))
            bytesLeft -= text.utf8.count
            guard bytesLeft >= 0 else { throw .tooLarge }
            strings.append(text)
        }
        return strings
    }

    /// A string stands for itself, and a mutable one is an object that holds it.
    private mutating func string(
        _ object: BinaryPropertyList.Object
    ) throws(PropertyListError) -> String {
        var holder = object
        if object.kind == .dictionary {
            guard ["NSString", "NSMutableString"].contains(try className(of: object)) else {
                throw .unexpected
            }
            holder = try list.required("NS.string", in: object)
        }
        switch try list.string(holder) {
        case .text(let text): return text
        case .tooLong: throw .tooLarge
        case .invalid: throw .malformed
        case nil: throw .unexpected
        }
    }

    /// The class that an object says it is of, which its class's own list of classes must begin
    /// with.
    private mutating func className(
        of object: BinaryPropertyList.Object
    ) throws(PropertyListError) -> String {
        let described = try list.archived(list.required("$class", in: object), in: objects)
        let name = try list.required("$classname", in: described)
        let classes = try list.required("$classes", in: described)
        guard case .text(let text) = try list.string(name),
            classes.kind == .array, classes.count > 0
        else { throw .unexpected }
        let first = try list.object(list.element(0, of: classes))
        guard try list.string(first)?.equals(text) == true else { throw .unexpected }
        return text
    }
}

extension BinaryPropertyList {
    /// The value of a key that must be there.
    fileprivate mutating func required(
        _ key: String, in dictionary: Object
    ) throws(PropertyListError) -> Object {
        guard dictionary.kind == .dictionary,
            let value = try value(of: key, in: dictionary, keysMax: archiveKeysMax)
        else { throw .unexpected }
        return try object(value)
    }

    /// The object that a UID names; 0 stands for null.
    fileprivate mutating func archived(
        _ uid: Object, in objects: Object
    ) throws(PropertyListError) -> Object {
        guard uid.kind == .uid, let number = try unsigned(uid), number > 0,
            number < UInt64(objects.count)
        else { throw .unexpected }
        return try object(element(Int(number), of: objects))
    }

    /// The text of a string; nil for other objects.
    fileprivate mutating func string(_ object: Object) throws(PropertyListError) -> ListText? {
        object.kind == .data ? nil : try text(of: object)
    }
}
