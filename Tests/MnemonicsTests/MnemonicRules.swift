import Secrets
import Testing

@testable import Mnemonics

@Suite struct MnemonicRules {
    @Test(arguments: PublishedVector.all)
    func thePublishedVectorsHoldInBothDirections(_ vector: PublishedVector) throws {
        let phrase = secret(vector.phrase)
        let entropy = try hex(Mnemonic.entropy(of: phrase))
        let rebuilt = try text(Mnemonic.phrase(ofEntropy: secret(hex: vector.entropy)))
        let seed = try hex(Mnemonic.seed(of: phrase, passphrase: secret("TREZOR")))
        let isValid = Mnemonic.isValid(phrase)
        #expect(entropy == vector.entropy)
        #expect(rebuilt == vector.phrase)
        #expect(seed == vector.seed)
        #expect(isValid)
        #expect(isPublished(vector.phrase))
    }

    @Test func thereAreTwentyFourPublishedVectors() {
        #expect(PublishedVector.all.count == 24)
    }

    @Test(arguments: [12, 15, 18, 21, 24])
    func aNewPhraseIsValidHasTheWantedLengthAndIsNotPublished(_ words: Int) throws {
        let phrase = text(try Mnemonic.generate(words: words, random: KernelRandom()))
        try Mnemonic.validate(secret(phrase))
        #expect(phrase.split(separator: " ").count == words)
        #expect(try normalized(phrase) == phrase)
        #expect(!isPublished(phrase))
    }

    @Test(arguments: [-12, 0, 11, 13, 25])
    func otherNumbersOfWordsAreNotMade(_ words: Int) {
        #expect(throws: MnemonicError.wrongWordCount(words)) {
            _ = try Mnemonic.generate(words: words, random: KernelRandom())
        }
    }

    @Test(arguments: [0, 4, 15, 17, 33])
    func otherLengthsOfEntropyAreRefused(_ count: Int) {
        #expect(throws: MnemonicError.wrongEntropyLength(count)) {
            _ = try Mnemonic.phrase(ofEntropy: SecretBytes(count: count))
        }
    }

    @Test(arguments: [0, 1, 11, 13, 23, 25])
    func aPhraseOfAnotherLengthIsRefused(_ words: Int) {
        let phrase = secret(Array(repeating: "abandon", count: words).joined(separator: " "))
        #expect(throws: MnemonicError.wrongWordCount(words)) { try Mnemonic.validate(phrase) }
    }

    @Test(arguments: [
        ("abandonx", 3), ("abando", 1), ("", 12), ("Abandon", 5), ("ábandon", 7), ("zzzzzzzz", 12),
        ("abandonabandon", 2),
    ])
    func anUnknownWordIsNamedByItsPlaceOnly(_ word: String, _ position: Int) {
        var words = Array(repeating: "abandon", count: 12)
        words[position - 1] = word
        #expect(throws: MnemonicError.unknownWord(position: position)) {
            try Mnemonic.validate(secret(words.joined(separator: " ")))
        }
    }

    @Test func everyLastWordButOneInSixteenFailsTheChecksum() throws {
        var valid = 0
        let start = Array(repeating: "abandon", count: 11).joined(separator: " ")
        for word in EnglishList.words {
            do throws(MnemonicError) {
                try Mnemonic.validate(secret("\(start) \(word)"))
                valid += 1
            } catch {
                #expect(error == .badChecksum)
            }
        }
        #expect(valid == 2_048 / 16)
    }

    @Test func swappingTwoWordsBreaksTheChecksum() throws {
        var words = PublishedVector.all[17].phrase.split(separator: " ").map(String.init)
        words.swapAt(0, 1)
        #expect(throws: MnemonicError.badChecksum) {
            try Mnemonic.validate(secret(words.joined(separator: " ")))
        }
    }
}

@Suite struct NormalizationRules {
    static let phrase = Array(repeating: "zoo", count: 11).joined(separator: " ") + " wrong"

    @Test(arguments: [
        "  \(phrase)\n", phrase.uppercased(), phrase.replacing(" ", with: "\r\n\t  "),
        phrase.replacing(" ", with: "\u{3000}"), phrase.replacing(" ", with: "\u{00A0}"),
        phrase.replacing(" ", with: "\u{2028}\u{0085}\u{1680}\u{2003}"),
        phrase.replacing("w", with: "\u{FF37}"), phrase.replacing("o", with: "\u{FF4F}"),
    ])
    func whatPeopleAndPagesDoToAPhraseIsUndone(_ typed: String) throws {
        #expect(try normalized(typed) == Self.phrase)
    }

    @Test(arguments: ["", " ", "\u{3000}\n", "\u{2028}"])
    func blanksAloneAreTheEmptyPhrase(_ typed: String) throws {
        #expect(try normalized(typed) == "")
    }

    @Test(arguments: [
        "zoo\u{200B}zoo", "zoo-zoo", "zoo,zoo", "\u{FEFF}zoo", "zo\u{0301}o",
    ])
    func nothingElseIsMended(_ typed: String) throws {
        #expect(try !holdsEveryWord(normalized(typed)))
    }

    @Test func aZeroByteMakesAWordUnknown() throws {
        #expect(try !holdsEveryWord(normalized("zoo\0")))
        #expect(try !holdsEveryWord(normalized("abandon\0 zoo")))
    }

    @Test func normalizingTwiceChangesNothing() throws {
        let once = try normalized("  \u{212A}ITCHEN \u{00C9}  \u{FB01}n\u{0130} ")
        #expect(try Array(normalized(once).utf8) == Array(once.utf8))
        #expect(once.utf8.starts(with: "kitchen e".utf8))
    }

    @Test(
        arguments: [[0xFF], [0xC0, 0x80], [0x7A, 0xE2, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func whatIsNotUTF8IsRefused(_ bytes: [UInt8]) {
        #expect(throws: MnemonicError.notText) {
            _ = try Mnemonic.normalize(SecretBytes(copying: bytes))
        }
        #expect(throws: MnemonicError.notText) {
            _ = try Mnemonic.seed(of: secret("zoo"), passphrase: SecretBytes(copying: bytes))
        }
    }

    @Test func aPassphraseIsTakenInNFKD() throws {
        let phrase = secret(Self.phrase)
        let composed = try hex(Mnemonic.seed(of: phrase, passphrase: secret("p\u{00E4}")))
        let apart = try hex(Mnemonic.seed(of: phrase, passphrase: secret("pa\u{0308}")))
        #expect(composed == apart)
    }
}

@Suite struct WordListRules {
    @Test func theListIsThePublishedFile() {
        let file = WordList.fileForm(of: EnglishWords.text)
        #expect(file.count == 13_116)
        #expect(file.filter { $0 == UInt8(ascii: "\n") }.count == WordList.wordCount)
        #expect(WordList(joined: file) != nil)
    }

    @Test func anyOtherListIsRefused() {
        var file = WordList.fileForm(of: EnglishWords.text)
        file[0] ^= 1
        #expect(WordList(joined: file) == nil)
        #expect(WordList(joined: []) == nil)
    }

    @Test func everyWordIsFoundAtItsPlaceAndWrittenBack() throws {
        let list = try WordList.english()
        var room = [UInt8](repeating: 0, count: 8)
        for (place, word) in EnglishList.words.enumerated() {
            #expect(Array(word.utf8).withUnsafeBytes { list.position(of: $0) } == place)
            let length = room.withUnsafeMutableBytes { list.write(wordAt: place, to: $0) }
            #expect(String(decoding: room[..<length], as: UTF8.self) == word)
        }
    }

    @Test(arguments: ["a", "ab", "abandons", "abandone", "zo", "zoom", "zzz", "éclair"])
    func whatIsNotAWordIsNotFound(_ word: String) throws {
        let list = try WordList.english()
        #expect(Array(word.utf8).withUnsafeBytes { list.position(of: $0) } == nil)
    }
}

@Suite struct PublishedPhraseRules {
    @Test(arguments: [
        String(repeating: "test ", count: 11) + "junk",
        String(repeating: "abandon ", count: 23) + "art",
        String(repeating: "all ", count: 11) + "all",
    ])
    func developersDefaultsAreKnown(_ phrase: String) {
        #expect(isPublished(phrase))
    }

    @Test func anotherPhraseIsNot() {
        #expect(!isPublished(""))
        #expect(!isPublished("abandon abandon"))
    }
}
