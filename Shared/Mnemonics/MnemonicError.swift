/// Why a phrase is not taken.
///
/// Never says which word was typed.
public enum MnemonicError: Error, Equatable, Sendable {
    /// The bytes are not UTF-8, or longer than any phrase can be.
    case notText
    /// Not 12, 15, 18, 21 or 24 words.
    case wrongWordCount(Int)
    /// The word at this position, counted from 1, is not in the English list.
    case unknownWord(position: Int)
    /// Every word is known but the checksum does not match: a word is wrong or out of place.
    case badChecksum
    /// Entropy is not 16, 20, 24, 28 or 32 bytes.
    case wrongEntropyLength(Int)
    /// The list compiled into this program does not match its published digest.
    case damagedWordList
    /// The cryptographic library failed.
    case failed
}
