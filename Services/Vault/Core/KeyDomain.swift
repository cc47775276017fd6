/// What the vault's derived keys are for: the `info` of their HKDF.
///
/// Both belong to the vault; the authority gives them to no other service.
enum KeyDomain: String, CaseIterable {
    /// Wraps the data keys of envelopes; the label is the passcode document's.
    case envelopes = "telegram.wallet.dek.v1"
    /// Authenticates what is written beside an envelope in clear.
    case identities = "coffer.wallet.identity.v1"
}
