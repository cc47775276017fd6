import PropertyLists
import TestKit
import Testing

@Suite("A binary property list")
struct BinaryPropertyListRules {
    private func list(_ bytes: [UInt8]) throws(PropertyListError) -> BinaryPropertyList {
        try BinaryPropertyList(MemorySource(copying: bytes))
    }

    /// One object, a table with one offset, and a trailer.
    private func single(_ object: [UInt8]) -> [UInt8] {
        Array("bplist00".utf8) + object + [8] + trailer(1, 1, 1, 0, 8 + object.count)
    }

    private func trailer(
        _ offsetBytes: UInt8, _ referenceBytes: UInt8, _ count: Int, _ top: Int, _ table: Int
    ) -> [UInt8] {
        [0, 0, 0, 0, 0, 0, offsetBytes, referenceBytes]
            + [count, top, table].flatMap { number in
                (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
            }
    }

    static let kinds: [([UInt8], BinaryPropertyList.Object.Kind, Int, Range<Int>)] = [
        ([0x51, 0x61], .ascii, 1, 9..<10),
        ([0x61, 0x00, 0xFC], .utf16, 1, 9..<11), ([0x42, 1, 2], .data, 2, 9..<11),
        ([0x4F, 0x10, 1, 7], .data, 1, 11..<12), ([0x4F, 0x11, 0, 1, 7], .data, 1, 12..<13),
        ([0x11, 1, 2], .integer, 2, 9..<11), ([0x81, 1, 2], .uid, 2, 9..<11),
        ([0xA1, 0], .array, 1, 9..<10), ([0xD1, 0, 0], .dictionary, 1, 9..<11),
        ([0x08], .other, 0, 9..<9), ([0x23, 0, 0, 0, 0, 0, 0, 0, 0], .other, 0, 9..<9),
    ]

    @Test("has objects of every kind", arguments: kinds)
    func readsKinds(
        _ object: [UInt8], _ kind: BinaryPropertyList.Object.Kind, _ count: Int,
        _ content: Range<Int>
    ) throws {
        var list = try list(single(object))
        let read = try list.object(list.root)
        #expect(read.kind == kind && read.count == count && read.content == content)
    }

    @Test("is looked at no further than its size is worth")
    func work() throws {
        let bytes = single([0x51, 0x61])
        var list = try list(bytes)
        var looks = 0
        while (try? list.object(list.root)) != nil { looks += 1 }
        #expect(looks == BinaryPropertyList.workMax(bytes.count))
        #expect(throws: PropertyListError.tooLarge) { _ = try list.object(list.root) }
        var texts = 0
        list = try self.list(bytes)
        let text = try list.object(list.root)
        while (try? list.text(of: text)) != nil { texts += 1 }
        #expect(texts == looks - 1)
    }

    static let brokenObjects: [[UInt8]] = [
        [0x52, 0x61], [0x61, 0x00], [0x4F], [0x4F, 0x14], [0x4F, 0x20, 1, 7], [0x4F, 0x10],
        [0x4F, 0x13, 0x80, 0, 0, 0, 0, 0, 0, 0],
        [0x4F, 0x13, 0x7F, 255, 255, 255, 255, 255, 255, 255],
        [0xAF, 0x13, 0x7F, 255, 255, 255, 255, 255, 255, 255],
        [0xDF, 0x12, 0x7F, 255, 255, 255],
        [0x13, 0, 0, 0], [0x15], [0x83, 0, 0, 0], [0xA1], [0xD1, 0], [0x90], [0x70], [0xB0],
        [0xE0],
        [0xF0],
    ]

    @Test("is refused where an object cannot be", arguments: brokenObjects)
    func readsBrokenObjects(_ object: [UInt8]) throws {
        var list = try list(single(object))
        #expect(throws: PropertyListError.malformed) { try list.object(list.root) }
    }

    static let tables: [(UInt8, UInt8, Int, Int, Int)] = [
        (0, 1, 1, 0, 9), (9, 1, 1, 0, 9), (1, 0, 1, 0, 9), (1, 9, 1, 0, 9), (1, 1, 0, 0, 9),
        (1, 1, 1, 1, 9), (1, 1, 2, 0, 9), (2, 1, 1, 0, 9), (1, 1, 1, 0, 8), (1, 1, 1, 0, 10),
        (1, 1, 1, 0, 0), (1, 1, 1, 0, 11), (1, 1, Int.max, 0, 9), (1, 1, -1, 0, 9),
        (1, 1, 1, -1, 9), (1, 1, 1, 0, -1), (1, 1, 1, 0, Int.max), (8, 1, Int.max / 4, 0, 9),
    ]

    @Test("is refused where its table cannot be", arguments: tables)
    func readsTables(
        _ offsetBytes: UInt8, _ referenceBytes: UInt8, _ count: Int, _ top: Int, _ table: Int
    ) throws {
        let head = Array("bplist00".utf8) + [0x08, 8]
        _ = try list(head + trailer(1, 1, 1, 0, 9))
        #expect(throws: PropertyListError.malformed) {
            _ = try list(head + trailer(offsetBytes, referenceBytes, count, top, table))
        }
    }

    @Test("is refused where an offset leads out of the objects", arguments: [0, 7, 9, 200])
    func offsets(_ offset: UInt8) throws {
        var bytes = single([0x08])
        bytes[9] = offset
        var list = try list(bytes)
        #expect(throws: PropertyListError.malformed) { try list.object(list.root) }
    }

    @Test("has references out of its table refused")
    func references() throws {
        var list = try list(single([0xA2, 0, 1]))
        let array = try list.object(list.root)
        #expect(try list.element(0, of: array) == list.root)
        let stray = try list.element(1, of: array)
        #expect(throws: PropertyListError.malformed) { try list.object(stray) }
    }

    @Test("of more bytes than there can be is refused unread")
    func huge() {
        struct Huge: ByteSource {
            let count = Int.max
            func read(
                at offset: Int, into buffer: UnsafeMutableRawBufferPointer
            ) throws(ByteSourceError) {
                for index in buffer.indices {
                    let place = offset + index
                    buffer[index] = place < 8 ? BinaryPropertyList.signature[place] : 0xFF
                }
            }
        }
        #expect(throws: PropertyListError.tooLarge) { _ = try BinaryPropertyList(Huge()) }
    }

    static let texts: [([UInt8], ListText?)] = [
        ([0x51, 0x61], .text("a")), ([0x51, 0x80], .invalid), ([0x50], .text("")),
        ([0x61, 0x00, 0xFC], .text("ü")), ([0x62, 0xD8, 0x3D, 0xDD, 0x11], .text("\u{1F511}")),
        ([0x61, 0xD8, 0x3D], .invalid), ([0x62, 0xDD, 0x11, 0xD8, 0x3D], .invalid),
        ([0x42, 0xC3, 0xBC], .text("ü")), ([0x41, 0xC3], .invalid), ([0x10, 1], nil),
        ([0x80, 1], nil),
        ([0xA0], nil), ([0x08], nil),
    ]

    @Test("reads texts in both encodings, and data as UTF-8", arguments: texts)
    func readsTexts(_ object: [UInt8], _ text: ListText?) throws {
        var list = try list(single(object))
        #expect(try list.text(of: list.object(list.root)) == text)
    }

    @Test(
        "reads texts up to the limit",
        arguments: [
            ListValue.text(String(repeating: "x", count: 1_024)),
            .wideText(String(repeating: "x", count: 1_024)),
            .data([UInt8](repeating: 0x78, count: 1_024)),
        ])
    func longTexts(_ value: ListValue) throws {
        var list = try list(value.binary())
        #expect(
            try list.text(of: list.object(list.root))
                == .text(String(repeating: "x", count: 1_024)))
    }

    @Test(
        "tells longer ones",
        arguments: [
            ListValue.text(String(repeating: "x", count: 1_025)),
            .wideText(String(repeating: "ü", count: 513)),
            .data([UInt8](repeating: 0x78, count: 1_025)),
        ])
    func tooLongTexts(_ value: ListValue) throws {
        var list = try list(value.binary())
        #expect(try list.text(of: list.object(list.root)) == .tooLong)
    }

    static let numbers: [([UInt8], UInt64?)] = [
        ([0x10, 0xFF], 255), ([0x11, 1, 0], 256),
        ([0x12, 0, 1, 0x86, 0xA0], 100_000),
        ([0x13, 255, 255, 255, 255, 255, 255, 255, 255], UInt64.max),
        ([0x82, 1, 0, 0], 65_536),
        ([0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], nil),
        ([0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0], nil),
        ([0x51, 0x61], nil),
    ]

    @Test("reads numbers of up to eight bytes", arguments: numbers)
    func readsNumbers(_ object: [UInt8], _ number: UInt64?) throws {
        var list = try list(single(object))
        #expect(try list.unsigned(list.object(list.root)) == number)
    }

    @Test("finds the value of a key, once")
    func keys() throws {
        let value = ListValue.dictionary([
            ("a", .integer(1)), ("ü", .integer(2)), ("b", .integer(3)), ("b", .integer(4)),
        ])
        var list = try list(value.binary())
        let root = try list.object(list.root)
        for (key, number) in [("a", 1 as UInt64), ("ü", 2)] {
            let found = try #require(try list.value(of: key, in: root, keysMax: 4))
            #expect(try list.unsigned(list.object(found)) == number)
        }
        #expect(try list.value(of: "u\u{308}", in: root, keysMax: 4) == nil)
        #expect(throws: PropertyListError.malformed) {
            try list.value(of: "b", in: root, keysMax: 4)
        }
        #expect(throws: PropertyListError.tooLarge) {
            try list.value(of: "a", in: root, keysMax: 3)
        }
        var strange = try self.list(single([0xD1, 0, 0]))
        let itself = try strange.object(strange.root)
        #expect(throws: PropertyListError.malformed) {
            try strange.value(of: "a", in: itself, keysMax: 4)
        }
    }
}
