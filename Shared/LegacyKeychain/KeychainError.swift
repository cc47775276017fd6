public import PropertyLists

/// Why a keychain cannot be read.
public enum KeychainError: Error, Equatable, Sendable {
    /// The first bytes are those of no format that is read.
    case unknownFormat
    /// The file as a whole is damaged: nothing that it gave so far may be relied on.
    case malformed
    /// It is a property list, and no keychain: it has no list of generic passwords, or two.
    case noGenericPasswords
    /// To read it would take far more work than its size: it refers to the same parts again and
    /// again.
    case tooLarge
    /// There are more than ``KeychainSource/rowsMax`` rows.
    case tooManyRows
    /// There is no value at a location, or none that can be read.
    case noValue
    /// The bytes could not be had.
    case source(ByteSourceError)

    /// What went wrong with a property list, said of the keychain in it.
    init(_ error: PropertyListError) {
        switch error {
        case .source(let error): self = .source(error)
        case .tooLarge: self = .tooLarge
        case .malformed, .tooDeep, .unexpected: self = .malformed
        }
    }
}
