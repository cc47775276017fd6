/// Why bytes are not an envelope that can be opened, or a secret cannot be put in one.
public enum EnvelopeError: Error, Equatable, Sendable {
    /// Not a version-1 document with all its members in their lengths; or there is nothing to seal.
    case malformed
    /// A document of another version.
    case unsupportedVersion
    /// The envelope of another vault.
    case wrongVault
    /// Something about the envelope, its namespace or the key is not what was sealed; which of them
    /// is not told.
    case authenticationFailed
    /// The cryptographic library failed, for lack of memory.
    case failed
}
