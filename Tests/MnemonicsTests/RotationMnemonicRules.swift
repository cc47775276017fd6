import Mnemonics
import Secrets
import Testing

@Suite struct RotationMnemonicRules {
    static let about = String(repeating: "abandon ", count: 11) + "about"
    static let yellow =
        "legal winner thank year wave sausage worth useful legal winner thank yellow"
    static let wrong = String(repeating: "zoo ", count: 11) + "wrong"

    /// Keys of halves, as published by @ton/walletkit 1.1.0-beta.0 and the tests of TEP-3 wallets.
    static let keys = [
        about: (
            "b477ef5ed17fb8a2b8faddd7a9835a227243a82c70b190c7af4896155aa7df9f",
            "7952e94118f34607c75e23258dd9220d66ccac5a3ee074125c25068e8107bfbf"
        ),
        yellow: (
            "930b30bc355699d639e8b9561c5e650edfc696294f9917cc19a453dcd526cf84",
            "434908c4c092113fcced4eec061b09c02b7b8934a9ca555e2032505aab7558ea"
        ),
        wrong: (
            "a7e4e571135b501905f0be50d4bbd7a407e194cc23b1573c0be8a769aef43333",
            "5d6320a0546c2df0908f0477e1ade79226faf854d041548f846b58872de5213e"
        ),
    ]

    @Test(arguments: [about, yellow, wrong]) func twelveWordsAnchorAndSign(_ half: String) throws {
        let expected = try #require(Self.keys[half])
        for phrase in [half, "\(half) \(half)"] {
            let mnemonic = try RotationMnemonic(secret(phrase))
            #expect(text(mnemonic.anchor.copy()) == half)
            #expect(text(mnemonic.signing.copy()) == half)
            #expect(try hex(mnemonic.signingKey()) == expected.0)
            #expect(try hex(mnemonic.signingPublicKey()) == expected.1)
            #expect(try hex(mnemonic.anchorPublicKey()) == expected.1)
        }
    }

    @Test(arguments: [(about, yellow), (about, wrong), (yellow, about), (wrong, yellow)])
    func afterARotationTheLastTwelveWordsSign(_ anchor: String, _ signing: String) throws {
        let mnemonic = try RotationMnemonic(secret("\(anchor) \(signing)"))
        #expect(try hex(mnemonic.anchorPublicKey()) == Self.keys[anchor]?.1)
        #expect(try hex(mnemonic.signingPublicKey()) == Self.keys[signing]?.1)
        #expect(try hex(mnemonic.signingKey()) == Self.keys[signing]?.0)
    }

    /// Valid under BIP-39 as a whole, and neither half is.
    @Test(arguments: [
        String(repeating: "abandon ", count: 23) + "art",
        String(repeating: "zoo ", count: 23) + "vote",
    ])
    func twentyFourWordsOfOneChecksumAreNotAnother(_ phrase: String) throws {
        try Mnemonic.validate(secret(phrase))
        #expect(throws: MnemonicError.badChecksum) { _ = try RotationMnemonic(secret(phrase)) }
    }

    @Test(arguments: [0, 1, 11, 13, 15, 18, 23, 25]) func thereAre12Or24Words(_ count: Int) {
        let phrase = Array(repeating: "abandon", count: count).joined(separator: " ")
        #expect(throws: MnemonicError.wrongWordCount(count)) {
            _ = try RotationMnemonic(secret(phrase))
        }
    }

    @Test func eachHalfHasItsOwnChecksum() {
        let bad = Array(repeating: "abandon", count: 12).joined(separator: " ")
        for phrase in [bad, "\(bad) \(Self.yellow)", "\(Self.yellow) \(bad)"] {
            #expect(throws: MnemonicError.badChecksum) {
                _ = try RotationMnemonic(secret(phrase))
            }
        }
    }

    @Test(arguments: [1, 12, 13, 24])
    func anUnknownWordIsNamedByItsPlaceInTheWholePhrase(_ position: Int) {
        var words = "\(Self.about) \(Self.yellow)".split(separator: " ").map(String.init)
        words[position - 1] = "zzz"
        #expect(throws: MnemonicError.unknownWord(position: position)) {
            _ = try RotationMnemonic(secret(words.joined(separator: " ")))
        }
    }
}
