/// Why a share file is not taken.
///
/// Never says what was in it.
public enum ShareFileError: Error, Equatable, Sendable {
    /// It is no share file, or was changed.
    case damaged
    /// It is a share as its holder got it, where a released one is wanted.
    case sealed
    /// It is a released share, where one as its holder got it is wanted.
    case released
    /// It is meant for another key, or was released for another restoration.
    case otherRecipient
    /// It is whole, and not the share that its split knows at this place.
    case wrong
    /// What a file is to be made of has not the form that a file can hold.
    case invalid
    /// A key is not 32 bytes, or agrees on a secret that anyone knows.
    case invalidKey
    /// There are not three holders, or two of them are one.
    case notThreeHolders
    /// The cryptographic library or the random source failed.
    case failed
}
