import AuthorityMessages
import Secrets
import Testing

@testable import CofferCore

@Suite struct TextRules {
    private func decode(_ text: String) -> [UInt8]? {
        SecretBytes(copying: Array(text.utf8)).withBytes { bytes in
            guard let decoded = PercentText.decode(bytes) else { return nil }
            return decoded.withBytes { Array($0) }
        }
    }

    @Test(arguments: [
        ("1234", "1234"), ("%25", "%"), ("a%0Ab%0a", "a\nb\n"), ("%C3%A9", "é"), ("", ""),
    ])
    func escapesAreUndone(text: String, expected: String) throws {
        let decoded = decode(text)
        #expect(decoded == Array(expected.utf8))
    }

    @Test(arguments: ["%", "%2", "12%", "%GG", "%2G", "%%25"])
    func aBrokenEscapeIsRefused(text: String) {
        let decoded = decode(text)
        #expect(decoded == nil)
    }

    @Test func whatIsEncodedDecodesToItself() {
        let text = "100 % sure?\r\nYes: é\r"
        let encoded = PercentText.encode(text)
        #expect(!encoded.contains { $0.isNewline })
        let decoded = decode(encoded)
        #expect(decoded == Array(text.utf8))
    }

    @Test func aLineIsNeverTooLong() {
        #expect(PercentText.encode(String(repeating: "%", count: 900)).utf8.count <= 800)
    }

    @Test(arguments: [
        ("1234", PasscodeKind.digits4, true), ("12345", .digits4, false), ("123", .digits4, false),
        ("12a4", .digits4, false), ("", .digits4, false), ("123456", .digits6, true),
        ("1234", .digits6, false), ("١٢٣٤", .digits4, true),
        ("１２３４５６", .digits6, true),
        ("12 4", .digits4, false), ("x", .alphanumeric, true),
        ("pass phrase é", .alphanumeric, true),
        ("", .alphanumeric, false),
    ])
    func aPasscodeHasTheShapeOfItsKind(code: String, kind: PasscodeKind, fits: Bool) {
        let bytes = SecretBytes(copying: Array(code.utf8))
        #expect((PasscodeShape.fault(of: bytes, kind: kind) == nil) == fits)
    }

    @Test func bytesThatAreNoTextAreNoPasscode() {
        for bytes: [UInt8] in [[0xFF], [0x31, 0xC3], [0xED, 0xA0, 0x80]] {
            for kind in PasscodeKind.allCases {
                #expect(PasscodeShape.fault(of: SecretBytes(copying: bytes), kind: kind) != nil)
            }
        }
    }

    @Test func aPhraseIsShownWithNumbers() {
        let phrase = SecretBytes(copying: Array("abandon ability able".utf8))
        let shown = PhraseOutput.numbered(phrase).withBytes { Array($0) }
        #expect(shown == Array("  1. abandon\n  2. ability\n  3. able\n".utf8))
        let line = PhraseOutput.line(phrase).withBytes { Array($0) }
        #expect(line == Array("abandon ability able\n".utf8))
    }

    @Test func numbersOfTwoDigitsAreAligned() {
        let words = Array(repeating: "zoo", count: 24).joined(separator: " ")
        let shown = PhraseOutput.numbered(SecretBytes(copying: Array(words.utf8)))
        let lines = shown.withBytes { Array($0) }.split(separator: 0x0A)
        #expect(lines.count == 24)
        #expect(lines.last.map { Array($0) } == Array(" 24. zoo".utf8))
    }

    @Test func whatCameFromElsewhereCannotSteerTheTerminal() {
        #expect(ShownText.printable("a\u{1B}[2Jb\u{9B}c\u{202E}d\n") == "a?[2Jb?c?d?")
        #expect(ShownText.printable("Grüße 東京") == "Grüße 東京")
    }

    @Test(arguments: [(0, "0 s"), (1, "1 s"), (999, "1 s"), (1_000, "1 s"), (59_001, "60 s")])
    func waitsAreRoundedUp(milliseconds: Int, text: String) {
        #expect(ShownText.seconds(UInt64(milliseconds)) == text)
    }

    @Test func columnsAreAlignedAndLinesEndWithoutBlanks() {
        let text = TextTable.lines([["a", "bb", "c"], ["aaa", "b"]])
        #expect(text == "a    bb  c\naaa  b")
    }

    @Test func longTextIsBrokenAtBlanks() {
        #expect(ShownText.wrapped("aaa bbb cc", width: 7) == "aaa bbb\ncc")
        #expect(ShownText.wrapped("aaaaaaaaaa b", width: 7) == "aaaaaaaaaa\nb")
    }

    @Test func aCommandIsNotBrokenOverTwoLines() {
        #expect(ShownText.wrapped("aaa `b c d`, e", width: 8) == "aaa\n`b c d`,\ne")
        #expect(ShownText.wrapped("`a` `b` c d", width: 7) == "`a` `b`\nc d")
        #expect(ShownText.wrapped("a `b c d e f g", width: 7) == "a\n`b c d e f g")
    }
}
