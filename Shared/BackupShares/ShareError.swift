/// Why shares, or the phrase in them, are not taken.
///
/// Never says what was in them.
public enum ShareError: Error, Equatable, Sendable {
    /// The phrase is not UTF-8, or holds a control character that is no white space.
    case notText
    /// The phrase has no word.
    case noWords
    /// The phrase does not fit its block of 215 bytes.
    case phraseTooLong
    /// The block is not the one form of any phrase; shares of two splits end here.
    case notCanonical
    /// Not three shares, or not three holders.
    case wrongCount(Int)
    /// The payloads differ in length or do not join to a prefixed block: not of one split.
    case payloadsDoNotFit
    /// A key is not 32 bytes, or agrees on a secret that anyone knows.
    case invalidKey
    /// The bytes do not have the length or the shape of what they should be.
    case malformed
    /// The message is damaged, or meant for another key.
    case authenticationFailed
    /// Wrapped and bare envelopes together, one of them twice, or of different sets.
    case notOneSet
    /// Two of the holders are one.
    case repeatedHolder
    /// The cryptographic library or the random source failed.
    case failed
}
