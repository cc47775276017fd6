import BackupShares
import Secrets
import Testing

@Suite struct PhraseBlockRules {
    @Test(arguments: [
        Phrases.about, Phrases.yellow, Phrases.longest, "zoo", "été forêt", "あい うえ",
    ])
    func aBlockIsThePhraseWithSpacesAfterItAndGivesItBack(_ phrase: String) throws {
        let block = try block(of: phrase)
        let padding = String(repeating: " ", count: 215 - phrase.utf8.count)
        #expect(block.count == 215)
        #expect(block.array == Array((phrase + padding).utf8))
        #expect(try PhraseBlock.decode(block).array == Array(phrase.utf8))
    }

    @Test(arguments: [
        "  zoo  wrong\n", "ZOO\twRONG", "zoo\u{3000}wrong", "zoo\r\n\u{2028}wrong\u{85}",
        "\u{1680}zoo \u{00A0}wrong",
    ])
    func whiteSpaceAndCapitalsDoNotMatter(_ text: String) throws {
        #expect(try block(of: text).array == block(of: "zoo wrong").array)
    }

    @Test(arguments: [
        "ÉTÉ", "ΣΊΣΥΦΟΣ", "İSTANBUL", "ǅ ẞ \u{212A}", "Ⅷ", "\u{1E921}",
    ])
    func lettersAreLoweredAsStringsAre(_ text: String) throws {
        let block = try block(of: text)
        #expect(try PhraseBlock.decode(block).array == Array(text.lowercased().utf8))
    }

    @Test func twoHundredAndFifteenBytesFitAndOneMoreDoesNot() throws {
        #expect(Phrases.longest.utf8.count == 215)
        _ = try block(of: Phrases.longest)
        #expect(throws: ShareError.phraseTooLong) { _ = try block(of: Phrases.longest + "s") }
        #expect(throws: ShareError.phraseTooLong) { _ = try block(of: Phrases.longest + " s") }
        _ = try block(of: Phrases.longest + " \n ")
        #expect(throws: ShareError.phraseTooLong) {
            _ = try PhraseBlock.encode(SecretBytes(count: PhraseBlock.textBytesMax + 1))
        }
    }

    @Test(arguments: ["", " ", "\n\u{3000}\t"]) func aPhraseHasAWord(_ text: String) {
        #expect(throws: ShareError.noWords) { _ = try block(of: text) }
    }

    @Test(
        arguments: [
            [0xFF], [0x7A, 0xC0, 0x80], [0xED, 0xA0, 0x80], [0x7A, 0xE2, 0x80], [0x00],
            [0x7A, 0x00, 0x7A], [0x7A, 0x1B], [0x7F], [0xC2, 0x9B],
        ] as [[UInt8]])
    func whatIsNoPlainTextIsRefused(_ text: [UInt8]) {
        #expect(throws: ShareError.notText) { _ = try PhraseBlock.encode(secret(text)) }
    }

    static let canonical = Array("zoo wrong".utf8) + [UInt8](repeating: 0x20, count: 206)

    @Test(arguments: [
        ("a space first", 0, 0x20), ("two spaces", 4, 0x20), ("a capital", 0, 0x5A),
        ("a tab", 3, 0x09), ("a zero at the end", 214, 0), ("a line feed at the end", 214, 0x0A),
        ("a letter after the padding", 214, 0x7A), ("half a scalar", 8, 0xC3),
    ])
    func oneByteOffTheCanonicalFormIsRefused(_ name: String, _ index: Int, _ byte: UInt8) throws {
        #expect(try PhraseBlock.decode(secret(Self.canonical)).text == "zoo wrong")
        var changed = Self.canonical
        changed[index] = byte
        #expect(throws: ShareError.notCanonical) { _ = try PhraseBlock.decode(secret(changed)) }
    }

    @Test(arguments: [0, 9, 214, 216, 430]) func anotherLengthIsRefused(_ count: Int) {
        let text = Array((Self.canonical + Self.canonical)[..<count])
        #expect(throws: ShareError.notCanonical) { _ = try PhraseBlock.decode(secret(text)) }
    }

    @Test func aBlockOfSpacesIsRefused() {
        #expect(throws: ShareError.notCanonical) {
            _ = try PhraseBlock.decode(secret([UInt8](repeating: 0x20, count: 215)))
        }
    }
}
