public import Wire

/// What goes wrong in the command itself, beside what services answer.
public enum ClientFault: String, NamedFault {
    case internalError = "coffer.internal"
    case usage = "coffer.usage"
    case wrongPasscode = "coffer.wrong_passcode"
    case coolingDown = "coffer.cooling_down"
    case noInstallation = "coffer.no_installation"
    case installation = "coffer.installation"
    case outcomeUnknown = "coffer.outcome_unknown"
    case cancelled = "coffer.cancelled"
    case interrupted = "coffer.interrupted"
    case ambiguousWallet = "coffer.ambiguous_wallet"
    case notConfirmed = "coffer.not_confirmed"
    case passcodeSet = "coffer.passcode_set"
    case servicesRunning = "coffer.services_running"
    case purgeFailed = "coffer.purge_failed"
    case stateFailed = "coffer.state_failed"
    case peerRefused = "coffer.peer_refused"
    case passcodeNeeded = "coffer.passcode_needed"
    case unknownOwner = "coffer.unknown_owner"
    case knownOwner = "coffer.known_owner"
    case outputFailed = "coffer.output_failed"
    case wrongPassphrase = "coffer.wrong_passphrase"
    case damagedFile = "coffer.damaged_file"
    case unusableShares = "coffer.unusable_shares"
    case fileUnreadable = "coffer.file_unreadable"
    case fileExists = "coffer.file_exists"
    case fileNotWritten = "coffer.file_not_written"

    public var meaning: String {
        switch self {
        case .internalError: "The command met something that it did not foresee."
        case .usage: "The command line is not one that the command knows. See `coffer help`."
        case .wrongPasscode: "The passcode is wrong. The attempt was counted."
        case .coolingDown:
            "After too many wrong passcodes the next one is taken later; nothing was tried."
        case .noInstallation:
            "There is no installation in this home. `deploy/launch up` makes and starts one."
        case .installation:
            "A file or folder of the installation cannot be used; the message names it."
        case .outcomeUnknown:
            "Whether the change was made could not be found out yet. `coffer outcome` tells later."
        case .cancelled: "The question was not answered, so nothing was done."
        case .interrupted: "The command was interrupted."
        case .ambiguousWallet: "More than one wallet fits. Give more of its id."
        case .notConfirmed: "What was typed is not what was asked for, so nothing was done."
        case .passcodeSet:
            "This owner has a passcode. `coffer passcode change` sets another."
        case .servicesRunning:
            "This is done with the services stopped. Stop them with `deploy/launch down`."
        case .purgeFailed: "A service's program could not move the owner aside."
        case .stateFailed:
            "A state could not be written out or put in place; the message says why."
        case .peerRefused: "The folder of peers does not take this; the message says why."
        case .passcodeNeeded:
            "There is no session, and no terminal to ask for the passcode on. `coffer unlock` "
                + "starts one."
        case .unknownOwner: "No service keeps anything of this owner."
        case .knownOwner:
            "A service knows something of this owner, so nothing was reset; the message names it."
        case .outputFailed: "The output could not be written. What the command did stands."
        case .wrongPassphrase: "The passphrase does not open this file."
        case .damagedFile:
            "A file is not what it should be, or was changed; the message names it."
        case .unusableShares: "Shares cannot be used; the message names each with its holder."
        case .fileUnreadable: "A file cannot be read; the message names it."
        case .fileExists: "A file of this name exists already, and nothing is replaced."
        case .fileNotWritten: "A file could not be written; nothing of it is left."
        }
    }

    public var outcome: Outcome { self == .outcomeUnknown ? .unknown : .rejected }
}
