import Secrets
import Testing
import UnicodeText

@Suite struct DigitRules {
    @Test(arguments: [
        ("", ""),
        ("1234", "1234"),
        ("\u{660}\u{661}\u{662}\u{663}", "0123"),
        ("\u{6f4}\u{6f5}\u{6f6}\u{6f7}", "4567"),
        ("\u{966}\u{967}\u{968}\u{969}", "0123"),
        ("\u{ff14}\u{ff15}\u{ff16}\u{ff17}", "4567"),
        ("1\u{662}\u{969}\u{ff14}", "1234"),
        ("\u{b9}\u{b2}\u{b3}\u{2074}", "1234"),
        ("\u{2460}\u{2461}\u{2462}\u{2463}", "1234"),
        ("\u{4e00}\u{4e8c}\u{4e09}\u{56db}", "1234"),
        ("\u{3007}\u{4e00}\u{3007}\u{4e00}", "0101"),
        ("\u{2160}\u{2161}\u{2162}\u{2163}", "1234"),
        ("12\u{5341}4", "12\u{5341}4"),
        ("12\u{bd}4", "12\u{bd}4"),
        ("1\u{662}\u{301}\u{663}", "1\u{662}\u{301}3"),
        ("1\u{20e3}\u{968}", "1\u{20e3}2"),
        ("a\u{663}b", "a3b"),
        ("12 34", "12 34"),
        ("abcdef", "abcdef"),
    ]) func aSingleDigitIsMappedAndEverythingElseStays(text: String, expected: String) throws {
        #expect(try UnicodeText.digitsMapped(secret(text)).array == Array(expected.utf8))
    }

    @Test func everyScalarIsMappedAsItsCharacterIs() throws {
        for text in everyScalar() { try expectAgreement(text) }
    }

    /// Whether a mark joins the digit before it decides, so every scalar stands after one here.
    @Test func everyScalarAfterADigitIsSegmentedAsCharactersAre() throws {
        for text in everyScalar() {
            var spread = String.UnicodeScalarView()
            for scalar in text.unicodeScalars where scalar != "\n" {
                spread.append("\u{ff14}")
                spread.append(scalar)
            }
            try expectAgreement(String(spread))
        }
    }

    @Test(arguments: UInt64(1)...10) func mixedTextsAreMappedByCharacter(seed: UInt64) throws {
        for text in randomTexts(seed: seed, count: 300) { try expectAgreement(text) }
    }

    private func expectAgreement(_ text: String) throws {
        var expected: [UInt8] = []
        for character in text {
            if let digit = character.wholeNumberValue, (0..<10).contains(digit) {
                expected.append(UInt8(ascii: "0") + UInt8(digit))
            } else {
                expected.append(contentsOf: character.utf8)
            }
        }
        let mapped = try UnicodeText.digitsMapped(secret(text)).array
        #expect(mapped == expected, "\(text.unicodeScalars.map { String($0.value, radix: 16) })")
    }
}
