/// What the derived keys of backup-shares are for: the `info` of their HKDF.
///
/// Both belong to backup-shares; the authority gives them to no other service.
enum KeyDomain: String, CaseIterable {
    /// Seals the private keys of restorations.
    case restorations = "coffer.backup.restoration.v1"
    /// Authenticates manifests that were confirmed.
    case manifests = "coffer.backup.manifest.v1"
}
