import Foundation
import Secrets
import Testing
import UnicodeText

@Suite struct NormalizationRules {
    @Test(arguments: [
        ("", ""),
        ("a", "61"),
        ("e\u{301}", "c3a9"),
        ("\u{e9}", "c3a9"),
        ("\u{1112}\u{1161}\u{11ab}", "ed959c"),
        // UAX #15; Foundation on Linux leaves a syllable and its final consonant apart.
        ("\u{ac00}\u{11ab}", "eab084"),
        ("\u{212b}", "c385"),
        ("\u{fb01}\u{2460}\u{ff21}", "efac81e291a0efbca1"),
        ("  pass ", "20207061737320"),
        ("PaSS \u{df}", "5061535320c39f"),
        ("\u{958}", "e0a495e0a4bc"),
        ("\u{967}\u{968}\u{969}\u{96a}", "e0a5a7e0a5a8e0a5a9e0a5aa"),
        ("\u{1f44d}\u{1f3fd}\u{1f511}", "f09f918df09f8fbdf09f9491"),
        ("a\u{0}b", "610062"),
    ]) func formCComposesAndChangesNothingElse(text: String, expected: String) throws {
        #expect(try hex(UnicodeText.nfc(secret(text)).array) == expected)
    }

    @Test(arguments: [
        ("", ""),
        ("\u{e9}", "65cc81"),
        ("\u{fb01}\u{2460}\u{ff21}", "66693141"),
        ("\u{3000}", "20"),
        ("\u{d55c}", "e18492e185a1e186ab"),
    ]) func formKDDecomposesForCompatibility(text: String, expected: String) throws {
        #expect(try hex(UnicodeText.nfkd(secret(text)).array) == expected)
    }

    /// Both libraries know the scalars of Unicode 15.0; beyond it their tables differ.
    @Test func everyScalarOfTheTablesIsNormalizedAsFoundationDoes() throws {
        let texts = everyScalar { scalar in
            scalar.properties.age.map { $0 <= (15, 0) } ?? false
        }
        #expect(texts.count > 200)
        for text in texts { try expectAgreement(text) }
    }

    @Test(arguments: UInt64(1)...10) func mixedTextsAreNormalizedAsFoundationDoes(
        seed: UInt64
    ) throws {
        for text in randomTexts(seed: seed, count: 300) { try expectAgreement(text) }
    }

    @Test(arguments: UInt64(20)...22) func normalizingTwiceChangesNothing(seed: UInt64) throws {
        for text in randomTexts(seed: seed, count: 100) {
            let once = try UnicodeText.nfc(secret(text))
            #expect(try UnicodeText.nfc(once).array == once.array)
            let decomposed = try UnicodeText.nfkd(secret(text))
            #expect(try UnicodeText.nfkd(decomposed).array == decomposed.array)
        }
    }

    @Test func theLongestTextIsTakenAndALongerOneRefused() throws {
        // The scalar that grows most: three bytes to thirty-three.
        let count = UnicodeText.inputBytesMax / 3
        let longest = String(repeating: "\u{fdfa}", count: count)
        #expect(try UnicodeText.nfkd(secret(longest)).count == count * 33)
        let tooLong = SecretBytes(count: UnicodeText.inputBytesMax + 1)
        #expect(throws: TextError.tooLong) { _ = try UnicodeText.nfc(tooLong) }
        #expect(throws: TextError.tooLong) { _ = try UnicodeText.nfkd(tooLong) }
        #expect(throws: TextError.tooLong) { _ = try UnicodeText.digitsMapped(tooLong) }
        _ = try UnicodeText.digitsMapped(SecretBytes(count: UnicodeText.inputBytesMax))
    }

    @Test(.timeLimit(.minutes(1))) func marksInTheWorstOrderEndInTime() throws {
        let pairs = String(repeating: "\u{0345}\u{0323}", count: UnicodeText.inputBytesMax / 4)
        let sorted = try UnicodeText.nfc(secret(pairs)).array
        #expect(sorted.prefix(4) == [0xcc, 0xa3, 0xcc, 0xa3])
        #expect(sorted.suffix(4) == [0xcd, 0x85, 0xcd, 0x85])
    }

    @Test(
        arguments: [
            [0x80], [0xff], [0xc0, 0x80], [0xc1, 0xbf], [0xc3], [0xe0, 0x80, 0x80], [0xe2, 0x82],
            [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xf0, 0x80, 0x80, 0x80],
            [0xf4, 0x90, 0x80, 0x80],
            [0xf5, 0x80, 0x80, 0x80], [0xf0, 0x9f, 0x91], [0x61, 0xc3, 0x28], [0xef, 0xbf],
        ] as [[UInt8]]) func whatIsNotUTF8IsRefused(bytes: [UInt8])
    {
        let text = SecretBytes(copying: bytes)
        #expect(throws: TextError.invalidUTF8) { _ = try UnicodeText.nfc(text) }
        #expect(throws: TextError.invalidUTF8) { _ = try UnicodeText.nfkd(text) }
        #expect(throws: TextError.invalidUTF8) { _ = try UnicodeText.digitsMapped(text) }
    }

    /// Two bytes in every combination, and three with a last one that may follow.
    @Test func validityIsThatOfTheStandardLibrary() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                for bytes in [[first, second], [first, second, 0x80]] {
                    let valid = String(validating: bytes, as: UTF8.self) != nil
                    let taken = (try? UnicodeText.nfc(SecretBytes(copying: bytes)).count) != nil
                    let mapped =
                        (try? UnicodeText.digitsMapped(SecretBytes(copying: bytes)).count) != nil
                    if taken != valid || mapped != valid { Issue.record("\(bytes)") }
                }
            }
        }
    }

    private func expectAgreement(_ text: String) throws {
        let composed = Array(text.precomposedStringWithCanonicalMapping.utf8)
        let decomposed = Array(text.decomposedStringWithCompatibilityMapping.utf8)
        let scalars = text.unicodeScalars.map { String($0.value, radix: 16) }
        #expect(try UnicodeText.nfc(secret(text)).array == composed, "\(scalars)")
        #expect(try UnicodeText.nfkd(secret(text)).array == decomposed, "\(scalars)")
    }
}

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
