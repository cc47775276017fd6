import LegacyKeychain
import PropertyLists
import TestKit
import Testing

/// What nobody made of an app's keychain costs no more than its size.
@Suite("A hostile source")
struct HostileSourceRules {
    private static let whole =
        #"{"service":"s","account":"a","value":"AQ=="}"#

    private static func xml(_ rows: String) -> [UInt8] {
        Array(
            "<plist version=\"1.0\"><dict><key>genp</key><array>\(rows)</array></dict></plist>".utf8
        )
    }

    /// Reads a source through, and tells what was wrong and how many bytes were read.
    private func read(_ bytes: [UInt8]) -> (error: KeychainError?, rows: Int, bytes: Int) {
        let source = CountingSource(bytes)
        var count = 0
        do throws(KeychainError) {
            let rows = try KeychainSource(source).rows()
            while try rows.next() != nil { count += 1 }
        } catch {
            return (error, count, source.reads.bytes)
        }
        return (nil, count, source.reads.bytes)
    }

    @Test("nested without end is refused, or a damaged row, before its end")
    func nesting() throws {
        let depth = 50_000
        let xml = read(Self.xml(String(repeating: "<array>", count: depth)))
        #expect(xml.error == .malformed)
        #expect(xml.bytes < 65_536)
        let nested = String(repeating: #"{"a":"#, count: depth)
        let lines = Array("\(nested)\n\(Self.whole)\n".utf8)
        let rows = try KeychainSource(lines).all()
        #expect(rows.count == 2)
        guard case .damaged(let item) = rows[0], case .item = rows[1] else {
            Issue.record("one damaged line, and the next one is read all the same")
            return
        }
        #expect(item.damage == .malformed)
    }

    /// Entities that stand for entities, as in the attack of a billion laughs.
    @Test("with entities of its own is refused at its head")
    func entities() {
        let laughs = (1..<10).map { "<!ENTITY l\($0) \"&l\($0 - 1);&l\($0 - 1);\">" }.joined()
        let text = "<!DOCTYPE plist [<!ENTITY l0 \"ha\">\(laughs)]>"
        let long = String(repeating: "&l9;", count: 20_000)
        let found = read(Array(text.utf8) + Self.xml("<string>\(long)</string>"))
        #expect(found.error == .malformed)
        #expect(found.bytes < 65_536)
    }

    @Test("with a row of very many keys costs no more than its size")
    func manyKeys() throws {
        let keys = (0..<20_000).map { #""\#($0)":0"# }.joined(separator: ",")
        let lines = Array("{\(keys)}\n\(Self.whole)\n".utf8)
        #expect(try KeychainSource(lines).all().count == 2)
        let xml = (0..<10_000).map { "<key>\($0)</key><true/>" }.joined()
        let bytes = Self.xml("<dict>\(xml)</dict><dict/>")
        let found = read(bytes)
        #expect(found.error == nil && found.rows == 2)
        #expect(found.bytes < 2 * bytes.count)
    }

    @Test("with one row over and over is read while that costs no more than its size is worth")
    func sharedRows() {
        let keys = (0..<120).map { (key: "key\($0)", value: SharedRows.Value.text("value")) }
        let few = read(SharedRows.list([.init(keys, count: 50)]))
        #expect(few.error == nil && few.rows == 50)
        let many = SharedRows.list([.init(keys, count: 1_000)])
        let found = read(many)
        #expect(found.error == .tooLarge)
        #expect(found.rows < 1_000)
    }

    @Test("of lines without end is read up to a million rows")
    func manyLines() {
        let found = read(
            Array(String(repeating: "{\n", count: KeychainSource.rowsMax + 1).utf8))
        #expect(found.error == .tooManyRows)
        #expect(found.rows == KeychainSource.rowsMax)
    }

    @Test("with a line too long has one damaged row, and its next one is read")
    func longLine() throws {
        let room = KeychainSource.lineBytesMax - Self.whole.utf8.count
        for (blanks, isRead) in [(room, true), (room + 1, false)] {
            let line = Self.whole + String(repeating: " ", count: blanks)
            let rows = try KeychainSource(Array("\(line)\n\(Self.whole)".utf8)).all()
            #expect(rows.count == 2)
            let areItems = rows.map { if case .item = $0 { true } else { false } }
            #expect(areItems == [isRead, true])
        }
    }
}
