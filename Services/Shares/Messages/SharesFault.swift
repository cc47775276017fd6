public import Wire

/// Why backup-shares gives no answer.
///
/// In every case nothing changed, but for the proof that a split spends.
public enum SharesFault: String, NamedFault {
    case noSuchHolder = "shares.no_such_holder"
    case holderExists = "shares.holder_exists"
    case invalidKey = "shares.invalid_key"
    case full = "shares.full"
    case noSuchSplit = "shares.no_such_split"
    case otherFiles = "shares.other_files"
    case noSuchRestoration = "shares.no_such_restoration"
    case restorationBusy = "shares.restoration_busy"
    case restorationDamaged = "shares.restoration_damaged"
    case unfitShares = "shares.unfit_shares"
    case kindNeeded = "shares.kind_needed"
    case invalidPhrase = "shares.invalid_phrase"
    case unexpectedIdentity = "shares.unexpected_identity"
    case vaultUnreachable = "shares.vault_unreachable"
    case vaultSilent = "shares.vault_silent"

    public var meaning: String {
        switch self {
        case .noSuchHolder:
            "There is no holder of that name. `coffer holder list` shows them, `coffer holder add` "
                + "takes one in."
        case .holderExists:
            "There is a holder of that name with another key. Take another name, or remove that "
                + "holder first."
        case .invalidKey:
            "This is no key that a share can be sealed for, or another holder has the same one."
        case .full: "There are as many holders, splits or restorations as there may be."
        case .noSuchSplit: "There is no such split in this namespace."
        case .otherFiles:
            "The files are not those of the split: at least one was not written as it was made. "
                + "Split the wallet anew."
        case .noSuchRestoration:
            "There is no such restoration in this namespace: it is finished, was given up, or was "
                + "begun elsewhere. Begin a new one and have the shares released for it."
        case .restorationBusy:
            "Another request works on this restoration already. Wait until it is done: it may "
                + "have restored the wallet, as `coffer wallet list` shows."
        case .restorationDamaged:
            "The key of this restoration does not open. Begin a new one and have the shares "
                + "released for it."
        case .unfitShares:
            "Each share can be read, and together they are no phrase. At least one is not what "
                + "was handed out."
        case .kindNeeded:
            "These shares do not say what kind of wallet they are of, or a kind that this version "
                + "does not know. Name the kind."
        case .invalidPhrase: "The shares lead to a text that is no phrase of this kind of wallet."
        case .unexpectedIdentity: "The shares lead to another wallet than the one expected."
        case .vaultUnreachable:
            "The wallet vault does not answer. Start it with `deploy/launch up`."
        case .vaultSilent:
            "The wallet vault was asked and gave no answer. A split made nothing, but its proof "
                + "may be spent: begin with a new one. A restoration may have installed the "
                + "wallet: ask for the outcome, or restore again, for a wallet never comes in "
                + "twice."
        }
    }

    public var outcome: Outcome {
        switch self {
        case .vaultSilent: .unknown
        default: .rejected
        }
    }

    public var retryAfterMilliseconds: UInt64? {
        switch self {
        case .restorationBusy, .vaultUnreachable, .vaultSilent: 1_000
        default: nil
        }
    }
}
