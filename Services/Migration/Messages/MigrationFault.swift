public import Wire

/// Why the migration gives no answer.
///
/// In every case nothing changed.
public enum MigrationFault: String, NamedFault {
    case sourceUnreadable = "migration.source_unreadable"
    case sourceMalformed = "migration.source_malformed"
    case sourceTooLarge = "migration.source_too_large"
    case sourceChanged = "migration.source_changed"
    case busy = "migration.busy"
    case noSuchRun = "migration.no_such_run"
    case noSuchWallet = "migration.no_such_wallet"
    case vaultUnreachable = "migration.vault_unreachable"

    public var meaning: String {
        switch self {
        case .sourceUnreadable:
            "The source cannot be read: it is not there, is no ordinary file, or the service may "
                + "not read it."
        case .sourceMalformed:
            "The source is neither a property list of a decrypted keychain nor lines of JSON, or "
                + "is damaged. Nothing was taken in."
        case .sourceTooLarge:
            "The source is larger than is read, or refers to the same values so often that "
                + "reading it would take far more work than its size. No keychain of the app is "
                + "like that. Nothing was taken in."
        case .sourceChanged: "The source changed while it was read. Begin again."
        case .busy: "A run of this owner is under way. Wait for it, or stop it."
        case .noSuchRun: "There is no such run, or the service was started since."
        case .noSuchWallet: "The source has no such wallet."
        case .vaultUnreachable:
            "The wallet vault does not answer. Start it with `deploy/launch up`, and begin again: "
                + "what was taken in is not taken in twice."
        }
    }

    public var retryAfterMilliseconds: UInt64? {
        switch self {
        case .busy, .vaultUnreachable: 1_000
        default: nil
        }
    }
}
