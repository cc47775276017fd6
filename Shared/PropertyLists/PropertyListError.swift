/// Why bytes are not the property list, or not the archive, that was expected.
///
/// Never says what was in them.
public enum PropertyListError: Error, Equatable, Sendable {
    /// The bytes do not have the form of the format.
    case malformed
    /// Containers are nested too deep.
    case tooDeep
    /// The whole, or what it stands for, is more than the reader's limit.
    case tooLarge
    /// The form is right, and it is not what is read here.
    case unexpected
    /// The bytes could not be had.
    case source(ByteSourceError)
}
