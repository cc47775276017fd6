/// A binary property list of a keychain in which one row stands many times over: each time a
/// reference to the same object, as no program writes it.
public struct SharedRows: Sendable {
    /// A row and how many references lead to it.
    public struct Row: Sendable {
        public var entries: [(key: String, value: Value)]
        public var count: Int

        public init(_ entries: [(key: String, value: Value)], count: Int) {
            self.entries = entries
            self.count = count
        }

        /// A row of the legacy app.
        public init(account: String, value: [UInt8], count: Int) {
            self.init(
                [
                    ("svce", .text(LegacyKeychainFile.service)), ("acct", .text(account)),
                    ("v_Data", .data(value)),
                ], count: count)
        }
    }

    public enum Value: Sendable {
        /// ASCII.
        case text(String)
        case data([UInt8])
    }

    private var objects: [[UInt8]] = []

    /// The bytes of a list with these rows.
    public static func list(_ rows: [Row]) -> [UInt8] {
        var list = SharedRows()
        // The root, its key, and the array, which are written when the rows are.
        list.objects = [[], sized(0x50, 4) + Array("genp".utf8), []]
        var array: [UInt8] = []
        var count = 0
        for row in rows {
            let reference = bytes(list.add(row), 4)
            for _ in 0..<row.count { array += reference }
            count += row.count
        }
        list.objects[0] = [0xD1] + bytes(1, 4) + bytes(2, 4)
        list.objects[2] = sized(0xA0, count) + array
        return list.file()
    }

    private mutating func add(_ row: Row) -> Int {
        var keys: [UInt8] = []
        var values: [UInt8] = []
        for (key, value) in row.entries {
            keys += Self.bytes(append(Self.sized(0x50, key.utf8.count) + Array(key.utf8)), 4)
            let object =
                switch value {
                case .text(let text): Self.sized(0x50, text.utf8.count) + Array(text.utf8)
                case .data(let data): Self.sized(0x40, data.count) + data
                }
            values += Self.bytes(append(object), 4)
        }
        return append(Self.sized(0xD0, row.entries.count) + keys + values)
    }

    private mutating func append(_ object: [UInt8]) -> Int {
        objects.append(object)
        return objects.count - 1
    }

    /// Head, objects, table and trailer; all numbers have four bytes.
    private func file() -> [UInt8] {
        var file = Array("bplist00".utf8)
        var table: [UInt8] = []
        for object in objects {
            table += Self.bytes(file.count, 4)
            file += object
        }
        let start = file.count
        return file + table + [0, 0, 0, 0, 0, 0, 4, 4] + Self.bytes(objects.count, 8)
            + Self.bytes(0, 8) + Self.bytes(start, 8)
    }

    /// A marker with its count.
    private static func sized(_ marker: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [marker | UInt8(count)] : [marker | 0x0F, 0x12] + bytes(count, 4)
    }

    private static func bytes(_ number: Int, _ width: Int) -> [UInt8] {
        (1...width).map { UInt8(truncatingIfNeeded: number >> (8 * (width - $0))) }
    }
}
