import Mnemonics
import Secrets
import Testing

@Suite struct TONMnemonicRules {
    /// The vectors of ton-org/ton-crypto (src/mnemonic/mnemonic.spec.ts).
    static let published = [
        (
            """
            hospital stove relief fringe tongue always charge angry urge sentence again match \
            nerve inquiry senior coconut label tumble carry category beauty bean road solution
            """,
            "9d659a6c2234db7f6e4f977e6e8653b9f5946d557163f31034011375d8f3f97d",
            "f6c450a16bb1c514e22f1977e390a3025599aa1e7b00068a6aacf2119484c1bd"
        ),
        (
            """
            dose ice enrich trigger test dove century still betray gas diet dune use other base \
            gym mad law immense village world example praise game
            """,
            "119dcf2840a3d56521d260b2f125eedc0d4f3795b9e627269a4b5a6dca8257bd",
            "c04ad1885c127fe863abb00752fa844e6439bb04f264d70de7cea580b32637ab"
        ),
        (
            """
            hobby coil wisdom mechanic fossil pretty enough attract since choice exhaust hazard \
            kit oven damp flip hawk tribe spice glare step hammer apple number
            """,
            "764c63ecdc92b331caf3c5a81c483da8444d4ac87d87af9e3cd36ae207d94e51",
            "99ac861b19db16bc0f01adfc6897f4760dfc44f9415284c78689d4fcc28b94f7"
        ),
        (
            """
            now wide tag purity diamond coin unit rack device replace cheap deposit mention \
            fence elite elder city measure reward lion chef promote depart connect
            """,
            "2a8a63e0467f1f4148e0be0cc13e922d726f0b1c29272d6743eb83cf5549128f",
            "313abf58635fd310310d1debd54f4fe1fd63631ced044ba0af96b67b85eed31b"
        ),
        (
            """
            clinic toward wedding category tip spin purity absent army gun brain happy move \
            company that cheap tank way shoe awkward pole protect wear crystal
            """,
            "e5e78a8e1e509da180bc5aeb8af1a37d4311c5110402842925760a4035119362",
            "b1f8a0b9b4c2353ddfad8937ed396fb7670e88e8b72128b15006839a2a86be47"
        ),
    ]

    /// Keys of phrases that lack the mark (@ton/walletkit 1.1.0-beta.0).
    static let withoutMark = [
        (
            String(repeating: "abandon ", count: 23) + "art",
            "88965e4e6f686bad4be63761f4d8fa1cc682bccf11f8382bd281304d07b76edc",
            "abbd2a1c784a6086850c172bcc7d56208e4dea0a51b9389ba21d174ff864c17a"
        ),
        (
            String(repeating: "zoo ", count: 23) + "vote",
            "1fb708f493f0cd36625fae4248897476387ae3f3e4326a971bb65b61909fe4eb",
            "8a88c3b80885be05618c7fb01d354ea8ce7d2770a227464c5b7515dd14c0b9f1"
        ),
    ]

    @Test(arguments: published + withoutMark)
    func thePublishedKeysAreDerived(
        _ phrase: String, _ privateKey: String, _ publicKey: String
    ) throws {
        #expect(try hex(TONMnemonic.privateKey(of: secret(phrase))) == privateKey)
        #expect(try hex(TONMnemonic.publicKey(of: secret(phrase))) == publicKey)
    }

    @Test(arguments: published)
    func publishedPhrasesAreValid(_ phrase: String, _: String, _: String) throws {
        try TONMnemonic.validate(secret(phrase))
    }

    @Test(arguments: withoutMark.map(\.0) + [Array(repeating: "abandon", count: 24).joined(" ")])
    func aPhraseWithoutTheMarkIsNotValid(_ phrase: String) {
        #expect(throws: MnemonicError.badChecksum) { try TONMnemonic.validate(secret(phrase)) }
        let isValid = TONMnemonic.isValid(secret(phrase))
        #expect(!isValid)
    }

    @Test func theMarkDependsOnTheOrderOfTheWords() {
        var words = Self.published[0].0.split(separator: " ").map(String.init)
        words.swapAt(0, 1)
        #expect(throws: MnemonicError.badChecksum) {
            try TONMnemonic.validate(secret(words.joined(" ")))
        }
    }

    @Test(arguments: [0, 1, 12, 23, 25]) func aPhraseHas24Words(_ count: Int) {
        let phrase = Array(repeating: "zoo", count: count).joined(" ")
        #expect(throws: MnemonicError.wrongWordCount(count)) {
            try TONMnemonic.validate(secret(phrase))
        }
    }

    @Test(arguments: [1, 13, 24]) func anUnknownWordIsNamedByItsPlaceOnly(_ position: Int) {
        var words = Self.published[0].0.split(separator: " ").map(String.init)
        words[position - 1] = "zzz"
        #expect(throws: MnemonicError.unknownWord(position: position)) {
            try TONMnemonic.validate(secret(words.joined(" ")))
        }
    }
}

extension [String] {
    fileprivate func joined(_ separator: String) -> String { joined(separator: separator) }
}
