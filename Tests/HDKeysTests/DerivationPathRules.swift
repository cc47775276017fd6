import HDKeys
import Testing

@Suite struct DerivationPathRules {
    static let hardened = DerivationPath.hardened

    @Test(
        arguments: [
            ("m", []),
            ("m/0", [0]),
            ("m/44'/5'/0'/0/0", [44 | hardened, 5 | hardened, hardened, 0, 0]),
            ("m/44h/0h", [44 | hardened, hardened]),
            ("m/2147483647", [2_147_483_647]),
            ("m/2147483647'", [UInt32.max]),
            ("m/1/2/3/4/5/6/7/8/9/10", Array(1...10)),
        ] as [(String, [UInt32])])
    func aPathIsRead(_ text: String, _ levels: [UInt32]) throws {
        let path = try DerivationPath(text)
        #expect(path.levels == levels)
        #expect(path.description == text.replacing("h", with: "'"))
        #expect(try DerivationPath(path.description) == path)
        #expect(try DerivationPath(levels: levels) == path)
    }

    @Test(arguments: [
        "", "/", "m/", "M", "M/0", "n/0", "0", "44'/607'/0'", "/0", "m//0", "m/0/", "m/0//1", " m",
        "m ", "m/ 0", "m/0 ", "m/-1", "m/+1", "m/0x1", "m/1e2", "m/1.0", "m/00", "m/01", "m/0''",
        "m/0'h", "m/0H", "m/'", "m/h", "m/0\u{2019}", "m/\u{0661}", "m/\u{FF11}",
        "m/2147483648", "m/2147483648'", "m/4294967296", "m/18446744073709551616",
        "m/99999999999999999999999999999999999999", "m/0\n", "m\\0", "mm/0", "m/0/m", "m/a",
        "m/0'0", "m/e\u{301}",
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(throws: HDKeyError.malformedPath) { _ = try DerivationPath(text) }
    }

    @Test func aZeroByteIsRefused() {
        for text in ["m/0\0", "m\0/0", "\0"] {
            #expect(throws: HDKeyError.malformedPath) { _ = try DerivationPath(text) }
        }
    }

    @Test func elevenLevelsAreTooDeep() {
        #expect(throws: HDKeyError.pathTooDeep) {
            _ = try DerivationPath("m" + String(repeating: "/0", count: 11))
        }
        #expect(throws: HDKeyError.pathTooDeep) {
            _ = try DerivationPath("m" + String(repeating: "/", count: 1_000_000))
        }
        #expect(throws: HDKeyError.pathTooDeep) {
            _ = try DerivationPath(levels: Array(repeating: 0, count: 11))
        }
    }

    @Test func onlyAPathOfHardenedLevelsIsHardenedThroughout() throws {
        #expect(try DerivationPath("m").isHardenedThroughout)
        #expect(try DerivationPath("m/0'/1'").isHardenedThroughout)
        #expect(try !DerivationPath("m/0'/1").isHardenedThroughout)
    }
}
