import LegacyKeychain
import PropertyLists
import Secrets
import TestKit
import Testing

@Suite("A source as a whole")
struct SourceFormRules {
    private static let file = LegacyKeychainFile([.init(account: "a", value: [1, 2, 3])])

    @Test(
        "of no known format is refused at once",
        arguments: [
            "", " ", "bplist", "bplist15", "[", "SQLite format 3", "\u{FEFF}<?xml", "<plis",
            "<html>",
            "\n{}", "YnBsaXN0", "<?XML",
        ])
    func unknown(_ text: String) {
        #expect(throws: KeychainError.unknownFormat) { try KeychainSource(Array(text.utf8)) }
    }

    @Test(
        "without generic passwords, or with two lists of them, is refused",
        arguments: [
            ListValue.dictionary([]), .dictionary([("inet", .array([]))]),
            .dictionary([("genp", .dictionary([]))]), .dictionary([("genp", .text("x"))]),
            .array([.dictionary([("genp", .array([]))])]), .text("genp"),
            .dictionary([("x", .dictionary([("genp", .array([]))]))]),
        ])
    func noPasswords(_ list: ListValue) throws {
        for bytes in [list.binary(), list.xml()] {
            #expect(throws: KeychainError.noGenericPasswords) {
                try KeychainSource(bytes).all()
            }
        }
    }

    @Test("with two lists of them is refused")
    func twice() {
        let list = ListValue.dictionary([("genp", .array([])), ("genp", .array([]))])
        #expect(throws: KeychainError.malformed) { try KeychainSource(list.binary()).all() }
        #expect(throws: KeychainError.noGenericPasswords) { try KeychainSource(list.xml()).all() }
    }

    @Test("with an empty list of them has no rows")
    func empty() throws {
        let list = ListValue.dictionary([("genp", .array([]))])
        #expect(try KeychainSource(list.binary()).all().isEmpty)
        #expect(try KeychainSource(list.xml()).all().isEmpty)
    }

    @Test(
        "that ends too soon is refused, once it was read through",
        arguments: [
            file.binary(), Array(file.xml().dropLast()),
        ])
    func cut(_ bytes: [UInt8]) {
        for count in 0..<bytes.count {
            #expect(throws: KeychainError.self) { try KeychainSource(Array(bytes[..<count])).all() }
        }
    }

    @Test("of lines that ends too soon has a damaged row, or one less")
    func cutLines() throws {
        let bytes = LegacyKeychainFile([
            .init(account: "a", value: [1, 2, 3]), .init(account: "b", value: [4]),
        ]).jsonLines()
        let lineBytes = try #require(bytes.firstIndex(of: 0x0A))
        for count in 1..<bytes.count {
            let rows = try KeychainSource(Array(bytes[..<count])).all()
            let isWhole = count == lineBytes || count == lineBytes + 1 || count == bytes.count - 1
            let damaged = rows.filter { if case .damaged = $0 { true } else { false } }
            #expect(damaged.count == (isWhole ? 0 : 1))
            #expect(rows.count == (count <= lineBytes + 1 ? 1 : 2))
        }
    }

    @Test("keeps throwing the error that ended it")
    func staysFailed() throws {
        let bytes = Array(Self.file.xml().dropLast(3))
        let rows = try KeychainSource(bytes).rows()
        #expect(try rows.next() != nil)
        for _ in 0..<3 { #expect(throws: KeychainError.malformed) { try rows.next() } }
        let whole = try KeychainSource(Self.file.xml()).rows()
        #expect(try whole.next() != nil)
        for _ in 0..<3 { #expect(try whole.next() == nil) }
    }

    @Test("gives no value at a location that is none of its own")
    func strayLocations() throws {
        let bytes = Self.file.xml()
        let source = try KeychainSource(bytes)
        for (offset, length) in [
            (-1, 1), (0, -1), (Int.max, 1), (1, Int.max), (bytes.count, 1), (0, bytes.count + 1),
            (Int.min, Int.min), (0, 2_097_153),
        ] {
            for encoding in [ValueLocation.Encoding.raw, .base64InXML, .base64InJSON] {
                let location = ValueLocation(offset: offset, length: length, encoding: encoding)
                #expect(throws: KeychainError.noValue) {
                    _ = try source.value(at: location)
                }
            }
        }
        for encoding in [ValueLocation.Encoding.base64InXML, .base64InJSON] {
            let location = ValueLocation(offset: 0, length: 9, encoding: encoding)
            #expect(throws: KeychainError.noValue) { _ = try source.value(at: location) }
        }
        let nothing = ValueLocation(offset: bytes.count, length: 0, encoding: .raw)
        #expect(try source.value(at: nothing).count == 0)
    }
}
