internal import Crypto
public import Secrets

/// The 2,048 English words of BIP-39, each packed into eight bytes, looked up in the same time
/// wherever in the list a word stands.
public struct WordList: Sendable {
    public static let wordCount = 2_048
    /// The longest word, in letters; every word fits one packed value.
    static let letterCountMax = 8
    /// SHA-256 of the published file: one word a line, each line ended by a line feed.
    static let publishedDigest = "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"

    private let packed: [UInt64]

    /// The list, checked once in the life of the process.
    public static func english() throws(MnemonicError) -> WordList {
        guard let list = checked else { throw .damagedWordList }
        return list
    }

    private static let checked = WordList(joined: fileForm(of: EnglishWords.text))

    /// Nil unless the bytes are the published file.
    init?(joined: [UInt8]) {
        guard SHA256.digest(joined) == bytes(ofHex: Self.publishedDigest.utf8) else { return nil }
        packed = joined.split(separator: UInt8(ascii: "\n")).map { Self.pack($0) }
    }

    /// The list as its published file: one word a line.
    static func fileForm(of text: StaticString) -> [UInt8] {
        text.withUTF8Buffer { letters in
            letters.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "\n") : $0 } + [UInt8(ascii: "\n")]
        }
    }

    /// The place of a word, from 0; nil if it is not in the list.
    ///
    /// Reads every entry whatever the word, so that neither time nor memory traffic tells which
    /// one it was.
    public func position(of word: UnsafeRawBufferPointer) -> Int? {
        guard 1...Self.letterCountMax ~= word.count, !word.contains(0) else { return nil }
        let wanted = Self.pack(word)
        var found: UInt64 = 0
        packed.withUnsafeBufferPointer { entries in
            for index in entries.indices {
                found |= Self.allOnes(ifEqual: entries[index], wanted) & UInt64(index + 1)
            }
        }
        return found == 0 ? nil : Int(found) - 1
    }

    /// Whether every word of a normalized phrase is in the list; false for an empty phrase.
    public func holdsEveryWord(of normalized: borrowing SecretBytes) -> Bool {
        normalized.withBytes { phrase in
            var rest = PhraseWords(phrase)
            var isKnown = true
            while let word = rest.next() { isKnown = position(of: word) != nil && isKnown }
            return isKnown
        }
    }

    /// Writes the word at a place and returns how many letters it has.
    ///
    /// `target` has room for ``letterCountMax``. Reads every entry, as ``position(of:)`` does.
    func write(wordAt place: Int, to target: UnsafeMutableRawBufferPointer) -> Int {
        precondition(0..<Self.wordCount ~= place, "a word's place has eleven bits")
        var chosen: UInt64 = 0
        packed.withUnsafeBufferPointer { entries in
            for index in entries.indices {
                chosen |= Self.allOnes(ifEqual: UInt64(index), UInt64(place)) & entries[index]
            }
        }
        var letters = 0
        while chosen != 0 {
            target[letters] = UInt8(truncatingIfNeeded: chosen >> 56)
            chosen <<= 8
            letters += 1
        }
        return letters
    }

    /// Letters from the most significant byte down, zero after the last.
    private static func pack(_ word: some Collection<UInt8>) -> UInt64 {
        var value: UInt64 = 0
        for letter in word { value = value << 8 | UInt64(letter) }
        return value << UInt64(8 * (letterCountMax - word.count))
    }

    private static func allOnes(ifEqual left: UInt64, _ right: UInt64) -> UInt64 {
        let difference = left ^ right
        let isDifferent = (difference | (0 &- difference)) >> 63
        return isDifferent &- 1
    }
}
