internal import Crypto
public import Secrets
internal import UnicodeText

/// BIP-39 recovery phrases in English, held in secret memory from end to end.
public enum Mnemonic {
    /// Numbers of words that BIP-39 knows.
    public static let wordCounts: Set<Int> = [12, 15, 18, 21, 24]
    /// Bytes of the seed of a phrase.
    public static let seedByteCount = 64

    /// Brings a typed or pasted phrase to the one form that is validated, stored and hashed.
    ///
    /// The rule: NFKD; every run of Unicode white space becomes one space and none stays at either
    /// end; `A` to `Z` become lower-case. Nothing else is mended: no word is completed, guessed or
    /// corrected. (No other letter has a lower-case form in the English list: NFKD has already made
    /// full-width letters and the Kelvin sign plain.) Throws ``MnemonicError/notText``.
    public static func normalize(
        _ phrase: borrowing SecretBytes
    ) throws(MnemonicError) -> SecretBytes {
        let decomposed = try compatibilityForm(of: phrase)
        var result = SecretBytes(count: decomposed.count)
        let length = decomposed.withBytes { source in
            result.withMutableBytes { WhiteSpace.collapse(source, into: $0) }
        }
        result.withMutableBytes { lowerCase($0) }
        return result.slice(0..<length)
    }

    /// Whether a normalized phrase is a valid one; see ``validate(_:)``.
    public static func isValid(_ normalized: borrowing SecretBytes) -> Bool {
        do throws(MnemonicError) {
            try validate(normalized)
            return true
        } catch {
            return false
        }
    }

    /// Checks number of words, then every word, then the checksum of a normalized phrase.
    public static func validate(_ normalized: borrowing SecretBytes) throws(MnemonicError) {
        _ = try entropy(of: normalized)
    }

    /// The 16 to 32 bytes that a valid normalized phrase stands for.
    public static func entropy(
        of normalized: borrowing SecretBytes
    ) throws(MnemonicError) -> SecretBytes {
        let list = try WordList.english()
        return try normalized.withBytes { (phrase) throws(MnemonicError) in
            let words = PhraseWords.count(in: phrase)
            guard wordCounts.contains(words) else { throw .wrongWordCount(words) }
            let bits = try packedBits(of: phrase, words: words, list: list)
            let entropy = bits.slice(0..<words * 4 / 3)
            let checksum = checksumBits(of: entropy)
            // Whatever is below the checksum in its byte is zero on both sides.
            guard bits.withBytes({ $0[entropy.count] }) == checksum else { throw .badChecksum }
            return entropy
        }
    }

    /// The phrase of 16, 20, 24, 28 or 32 bytes of entropy.
    public static func phrase(
        ofEntropy entropy: borrowing SecretBytes
    ) throws(MnemonicError) -> SecretBytes {
        guard entropyByteCounts.contains(entropy.count) else {
            throw .wrongEntropyLength(entropy.count)
        }
        let list = try WordList.english()
        let checksum = checksumBits(of: entropy)
        let words = entropy.count * 3 / 4
        var text = SecretBytes(count: words * (WordList.letterCountMax + 1))
        let length = entropy.withBytes { source in
            text.withMutableBytes { target in
                var length = 0
                for word in 0..<words {
                    let place = wordPlace(word, entropy: source, checksum: checksum)
                    let room = UnsafeMutableRawBufferPointer(rebasing: target[length...])
                    length += list.write(wordAt: place, to: room)
                    target[length] = UInt8(ascii: " ")
                    length += 1
                }
                return length - 1
            }
        }
        return text.slice(0..<length)
    }

    /// A new phrase of 12, 15, 18, 21 or 24 words, already normalized.
    public static func generate(
        words: Int, random: some RandomSource
    ) throws(MnemonicError) -> SecretBytes {
        guard wordCounts.contains(words) else { throw .wrongWordCount(words) }
        return try phrase(ofEntropy: random.secret(words * 4 / 3))
    }

    /// The 64-byte seed of a phrase, which is not validated here; an empty passphrase means none.
    ///
    /// PBKDF2-HMAC-SHA512, 2,048 rounds, salt "mnemonic" and the passphrase in NFKD (BIP-39).
    public static func seed(
        of normalized: borrowing SecretBytes, passphrase: borrowing SecretBytes
    ) throws(MnemonicError) -> SecretBytes {
        let addition = try compatibilityForm(of: passphrase)
        let salt = SecretBytes(count: saltPrefix.count + addition.count) { target in
            target.copyBytes(from: saltPrefix)
            let tail = UnsafeMutableRawBufferPointer(rebasing: target[saltPrefix.count...])
            addition.withBytes { tail.copyMemory(from: $0) }
        }
        do throws(CryptoError) {
            return try PBKDF2.sha512(
                password: normalized, salt: salt, iterations: 2_048, count: seedByteCount)
        } catch {
            throw .failed
        }
    }
}

extension Mnemonic {
    private static let saltPrefix = [UInt8]("mnemonic".utf8)
    private static let entropyByteCounts: Set<Int> = [16, 20, 24, 28, 32]
    private static let bitsPerWord = 11

    private static func compatibilityForm(
        of text: borrowing SecretBytes
    ) throws(MnemonicError) -> SecretBytes {
        do throws(TextError) {
            return try UnicodeText.nfkd(text)
        } catch {
            throw .notText
        }
    }

    private static func lowerCase(_ text: UnsafeMutableRawBufferPointer) {
        for index in text.indices {
            let isUpper = text[index] &- UInt8(ascii: "A") < 26
            text[index] |= isUpper ? 0x20 : 0
        }
    }

    /// Eleven bits a word, first word first, from the most significant bit down.
    private static func packedBits(
        of phrase: UnsafeRawBufferPointer, words: Int, list: WordList
    ) throws(MnemonicError) -> SecretBytes {
        var unknown: Int?
        let bits = SecretBytes(count: (words * bitsPerWord + 7) / 8) { target in
            var rest = PhraseWords(phrase)
            var position = 0
            while let word = rest.next() {
                let place = list.position(of: word)
                if place == nil && unknown == nil { unknown = position + 1 }
                put(place ?? 0, at: position * bitsPerWord, in: target)
                position += 1
            }
        }
        if let unknown { throw .unknownWord(position: unknown) }
        return bits
    }

    /// Sets eleven bits that are still zero.
    private static func put(_ place: Int, at bit: Int, in target: UnsafeMutableRawBufferPointer) {
        let shifted = UInt32(place) << UInt32(32 - bitsPerWord - bit % 8)
        let first = bit / 8
        target[first] |= UInt8(truncatingIfNeeded: shifted >> 24)
        target[first + 1] |= UInt8(truncatingIfNeeded: shifted >> 16)
        if first + 2 < target.count {
            target[first + 2] |= UInt8(truncatingIfNeeded: shifted >> 8)
        }
    }

    private static func wordPlace(
        _ word: Int, entropy: UnsafeRawBufferPointer, checksum: UInt8
    ) -> Int {
        var value = 0
        for offset in 0..<3 {
            let index = word * bitsPerWord / 8 + offset
            let byte =
                index < entropy.count ? entropy[index] : index == entropy.count ? checksum : 0
            value = value << 8 | Int(byte)
        }
        let bitsBelow = 24 - bitsPerWord - word * bitsPerWord % 8
        return value >> bitsBelow & (WordList.wordCount - 1)
    }

    /// The first bits of the entropy's SHA-256, one for each four bytes, at the top of a byte.
    private static func checksumBits(of entropy: borrowing SecretBytes) -> UInt8 {
        let digest = SHA256.digest(of: entropy)
        return digest.withBytes { $0[0] } & ~(0xFF >> UInt8(entropy.count / 4))
    }
}
