/// Why bytes are not a token of ours.
///
/// A peer is never told which it was.
public enum TokenError: Error, Equatable, Sendable {
    /// Not `v4.public.` with canonical parts.
    case malformed
    /// The signature is not the key's for these parts.
    case authenticationFailed
    /// The claims break a rule between them, are of another run, or make too long a token.
    case invalidClaims
}
