public import Wire

/// Why the authority gives no answer.
///
/// In every case nothing changed, except that where the outcome is unknown an attempt may be
/// counted.
public enum CredentialFault: String, NamedFault {
    case noPasscode = "credential.no_passcode"
    case missing = "credential.missing"
    case secretMissing = "credential.secret_missing"
    case damaged = "credential.damaged"
    case unsupportedVersion = "credential.unsupported_version"
    case stale = "credential.stale"
    case overtaken = "credential.overtaken"
    case invalidCode = "credential.invalid_code"
    case notAuthorised = "credential.not_authorised"
    case locked = "credential.locked"
    case limiterUnreachable = "credential.limiter_unreachable"
    case vaultUnreachable = "credential.vault_unreachable"
    case limiterSilent = "credential.limiter_silent"
    case attemptsDamaged = "credential.attempts_damaged"
    case nothingToRepair = "credential.nothing_to_repair"
    case busyChanging = "credential.busy_changing"
    case removing = "credential.removing"
    case noRemoval = "credential.no_removal"
    case wipeOutstanding = "credential.wipe_outstanding"
    case exists = "credential.exists"
    case invalidImport = "credential.invalid_import"

    public var meaning: String {
        switch self {
        case .noPasscode: "This owner has no passcode. Set one with `coffer passcode set`."
        case .missing:
            "The limiter knows this owner and the authority has no record of it. Put the right "
                + "authority store back, or move the rest aside with `coffer owner purge`."
        case .secretMissing:
            "The limiter does not have the device secret that this passcode was set with. Put "
                + "the right limiter store back, or move the rest aside with `coffer owner purge`."
        case .damaged:
            "The credential record is damaged. Nothing was overwritten; put the store back from "
                + "a copy."
        case .unsupportedVersion:
            "The credential record is of a version that this program does not know. Install the "
                + "release that wrote it, or a later one."
        case .stale:
            "The credential changed or was locked while the passcode was being checked, or is "
                + "another one. No attempt is counted; ask again."
        case .overtaken:
            "The credential changed while the passcode was being checked, or the check took too "
                + "long, so one attempt may be counted. See `coffer status`, then try again."
        case .invalidCode:
            "The passcode does not have the form of its kind: four digits, six digits, or any "
                + "text that is not empty."
        case .notAuthorised:
            "This needs another session: one of the right scope, started with the passcode."
        case .locked: "The owner is locked. Unlock with `coffer unlock`."
        case .limiterUnreachable:
            "The attempt limiter does not answer, and no passcode is tried without it. Start it "
                + "with `deploy/launch up`."
        case .vaultUnreachable:
            "The wallet vault does not say whether it has anything of this owner, and nothing is "
                + "reset without its answer. Start it with `deploy/launch up`."
        case .limiterSilent:
            "The attempt limiter was asked and gave no answer in time, so one attempt may be "
                + "counted. See `coffer status`, then try again."
        case .attemptsDamaged:
            "The attempts record of this owner is missing or not valid and nothing is tried. "
                + "`coffer attempts repair` sets it to six attempts and 60 s."
        case .nothingToRepair: "The attempts record is valid; it stays as it is."
        case .busyChanging:
            "Another change of this owner's credential is under way. Ask again when it is done."
        case .removing:
            "This owner is being reset or removed, and nothing else is done until that is "
                + "finished: run `coffer owner reset` or `coffer owner remove` again."
        case .noRemoval: "No such reset or removal of this owner is under way."
        case .wipeOutstanding:
            "A service still has wallets of this owner. Start it, and reset or remove again."
        case .exists:
            "This owner has a credential, and nothing was imported over it. Import for another "
                + "owner, or change the passcode with `coffer passcode change`."
        case .invalidImport:
            "What was given is not a credential record of version 1 that has a passcode, with its "
                + "device secret of 32 bytes."
        }
    }

    public var outcome: Outcome {
        switch self {
        case .limiterSilent, .overtaken: .unknown
        default: .rejected
        }
    }

    public var retryAfterMilliseconds: UInt64? {
        switch self {
        case .busyChanging, .limiterUnreachable, .vaultUnreachable: 1_000
        default: nil
        }
    }
}
