import PropertyLists
import TestKit
import Testing

@Suite("Any bytes give a value or an error")
struct DecoderProperties {
    static let archives = [
        LegacyKeychainFile.archive(of: []),
        LegacyKeychainFile.archive(of: ["f78c9465937f02a9", "ü"], isMutable: false),
        LegacyKeychainFile.archive(of: ["one", "two"], mutableStrings: true),
    ]

    @Test("of an archive, and one cut short is refused at every length", arguments: archives)
    func archiveCut(_ archive: [UInt8]) throws {
        _ = try KeyedArchive.strings(in: archive)
        for count in 0..<archive.count {
            #expect(throws: PropertyListError.self) {
                try KeyedArchive.strings(in: Array(archive[..<count]))
            }
        }
    }

    @Test("of an archive after random changes", arguments: archives, 0..<4)
    func archiveChanged(_ archive: [UInt8], seed: UInt64) {
        let random = SeededRandom(seed: seed)
        var read = 0
        for _ in 0..<1_000 {
            let bytes = Mutation.changed(archive, random)
            if (try? KeyedArchive.strings(in: bytes)) != nil { read += 1 }
        }
        // Some changes do no harm, such as those of a letter; most do.
        #expect(read < 900)
    }

    static let lists = [
        ListValue.dictionary([
            ("a", .array([.text("x"), .data([1, 2, 3]), .integer(7), .bool(true), .date(1)])),
            ("b & c", .dictionary([("d", .text("<ü>"))])), ("e", .array([])),
            ("f", .dictionary([])),
        ]),
        ListValue.array([.text(""), .data([]), .array([.array([.text("deep")])])]),
    ]

    @Test("of an XML list, and one cut short is refused at every length", arguments: lists)
    func xmlCut(_ list: ListValue) throws {
        // White space after the end may be missing.
        let bytes = Array(list.xml().dropLast())
        #expect(tokens(bytes) != nil)
        for count in 0..<bytes.count { #expect(tokens(Array(bytes[..<count])) == nil) }
    }

    @Test("of an XML list after random changes", arguments: lists, 0..<4)
    func xmlChanged(_ list: ListValue, seed: UInt64) {
        let random = SeededRandom(seed: seed)
        var read = 0
        for _ in 0..<1_000 where tokens(Mutation.changed(list.xml(), random)) != nil { read += 1 }
        #expect(read < 900)
    }

    @Test("of a binary list after random changes, whatever is asked of it", arguments: lists, 0..<4)
    func binaryChanged(_ value: ListValue, seed: UInt64) {
        let random = SeededRandom(seed: seed)
        var visited = 0
        for _ in 0..<1_000 {
            let bytes = Mutation.changed(value.binary(), random)
            guard var list = try? BinaryPropertyList(MemorySource(copying: bytes)) else { continue }
            visited += visit(&list, list.root, depth: 0)
        }
        #expect(visited > 100)
    }

    /// Nil where the list is refused.
    private func tokens(_ bytes: [UInt8]) -> [XMLPropertyList.Token]? {
        var list = XMLPropertyList(MemorySource(copying: bytes))
        var tokens: [XMLPropertyList.Token] = []
        while tokens.last != .endOfList {
            guard let token = try? list.next() else { return nil }
            tokens.append(token)
        }
        return tokens
    }

    /// How many objects could be read.
    private func visit(
        _ list: inout BinaryPropertyList, _ reference: BinaryPropertyList.Reference, depth: Int
    ) -> Int {
        guard depth < 4, let object = try? list.object(reference) else { return 0 }
        #expect(object.content.lowerBound >= 8)
        _ = try? list.text(of: object)
        _ = try? list.unsigned(object)
        var visited = 1
        for index in 0..<min(object.count, 8) {
            if object.kind == .array, let next = try? list.element(index, of: object) {
                visited += visit(&list, next, depth: depth + 1)
            }
            if object.kind == .dictionary, let next = try? list.entry(index, of: object) {
                visited += visit(&list, next.key, depth: depth + 1)
                visited += visit(&list, next.value, depth: depth + 1)
            }
        }
        return visited
    }
}
