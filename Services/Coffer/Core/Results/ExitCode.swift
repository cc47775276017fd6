internal import AuthorityMessages
internal import LimiterMessages
internal import MigrationMessages
internal import SharesMessages
internal import VaultMessages
internal import Wire

/// What the shell is told.
enum ExitCode: Int32, CaseIterable, Sendable {
    case done = 0
    case internalError = 1
    case usage = 2
    case wrongPasscode = 3
    case coolingDown = 4
    case notAuthorised = 5
    case unreachable = 6
    case refused = 7
    case outcomeUnknown = 8
    case damaged = 9
    case interrupted = 130

    /// What it means, for help texts.
    var meaning: String {
        switch self {
        case .done: "done"
        case .internalError: "internal error, or a service that is not well"
        case .usage: "wrong usage of the command"
        case .wrongPasscode: "wrong passcode, PIN of a token, or passphrase of a file"
        case .coolingDown: "cooling down after wrong passcodes"
        case .notAuthorised: "locked, not authorised, or a key that the service does not know"
        case .unreachable: "a service, a token or the installation is not there"
        case .refused: "refused"
        case .outcomeUnknown: "outcome unknown"
        case .damaged: "damaged data"
        case .interrupted: "interrupted"
        }
    }
}

extension ExitCode {
    /// The exit code of a refusal that a request of this kind got.
    ///
    /// Only what changes something can have an unknown outcome: an answer that did not come leaves
    /// nothing behind where the request only asked.
    init(_ refusal: Refusal, kind: MethodKind) {
        let known = Self.known(refusal.code)
        guard refusal.outcome == .unknown || known == .outcomeUnknown else {
            self = known ?? .refused
            return
        }
        switch kind {
        case .change, .repeatable: self = .outcomeUnknown
        case .read, .fresh:
            switch BusFault(rawValue: refusal.code) {
            case .expired, .lost: self = .unreachable
            case nil:
                switch CredentialFault(rawValue: refusal.code) {
                case .limiterSilent: self = .unreachable
                case .overtaken: self = .refused
                default: self = .internalError
                }
            default: self = .internalError
            }
        }
    }

    /// Nil for a code of another version.
    private static func known(_ code: String) -> ExitCode? {
        let everywhere =
            BusFault(rawValue: code)?.exitCode ?? SessionFault(rawValue: code)?.exitCode
            ?? StorageFault(rawValue: code)?.exitCode ?? ClientFault(rawValue: code)?.exitCode
        let credentials =
            CredentialFault(rawValue: code)?.exitCode ?? DeviceKeyFault(rawValue: code)?.exitCode
            ?? LimiterFault(rawValue: code)?.exitCode ?? LeaseFault(rawValue: code)?.exitCode
        let wallets =
            VaultFault(rawValue: code)?.exitCode ?? SharesFault(rawValue: code)?.exitCode
            ?? MigrationFault(rawValue: code)?.exitCode
        return everywhere ?? credentials ?? wallets
    }
}

extension BusFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .malformed: .internalError
        case .forbidden, .unadmitted: .notAuthorised
        case .unreachable: .unreachable
        case .expired, .lost, .badReply, .inFlight, .internalError: .outcomeUnknown
        case .unknownMethod, .busy, .oversize, .keyReused, .identity, .unsupportedVersion,
            .withdrawn, .interrupted, .overdue:
            .refused
        }
    }
}

extension SessionFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .invalid, .ended: .notAuthorised
        }
    }
}

extension StorageFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .failed, .residue: .outcomeUnknown
        case .full: .refused
        case .damaged: .damaged
        }
    }
}

extension CredentialFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .missing, .secretMissing, .damaged, .unsupportedVersion, .attemptsDamaged,
            .invalidImport:
            .damaged
        case .notAuthorised, .locked: .notAuthorised
        case .limiterUnreachable, .vaultUnreachable: .unreachable
        case .limiterSilent, .overtaken: .outcomeUnknown
        case .noPasscode, .stale, .invalidCode, .nothingToRepair, .busyChanging, .exists,
            .removing, .noRemoval, .wipeOutstanding:
            .refused
        }
    }
}

extension DeviceKeyFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .wrongPIN: .wrongPasscode
        case .pinNeeded, .pinLocked: .notAuthorised
        case .cancelled: .interrupted
        case .noObject, .mismatch: .damaged
        case .noToken, .timedOut, .tokenFailed, .noModule: .unreachable
        case .none, .unprotected, .invalidURI, .severalTokens, .unsupported, .busy, .full:
            .refused
        }
    }
}

extension VaultFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .envelopeDamaged, .identityMismatch: .damaged
        case .noSuchWallet, .walletExists, .unexpectedIdentity, .invalidPhrase, .invalidPath,
            .invalidMessage, .full:
            .refused
        }
    }
}

extension LeaseFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .notAuthorised: .notAuthorised
        case .authorityUnreachable: .unreachable
        case .unanswered: .outcomeUnknown
        case .over: .refused
        }
    }
}

extension SharesFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .restorationDamaged, .unfitShares, .otherFiles: .damaged
        case .vaultUnreachable: .unreachable
        case .vaultSilent: .outcomeUnknown
        case .noSuchHolder, .holderExists, .invalidKey, .full, .noSuchSplit, .noSuchRestoration,
            .restorationBusy, .kindNeeded, .invalidPhrase, .unexpectedIdentity:
            .refused
        }
    }
}

extension MigrationFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .sourceMalformed: .damaged
        case .vaultUnreachable: .unreachable
        case .sourceUnreadable, .sourceTooLarge, .sourceChanged, .busy, .noSuchRun, .noSuchWallet:
            .refused
        }
    }
}

extension LimiterFault {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .damaged: .damaged
        case .rolledBack: .coolingDown
        case .unknownOwner, .otherEnrolment, .otherKey, .badChallenge, .badSignature, .nonceSeen,
            .numbersUsedUp, .noSuchAttempt, .attemptOver, .nothingToRepair:
            .refused
        }
    }
}

extension ClientFault {
    /// What the command's own failures end with.
    var exitCode: ExitCode {
        switch self {
        case .internalError, .purgeFailed, .stateFailed, .outputFailed, .fileNotWritten:
            .internalError
        case .usage, .fileUnreadable: .usage
        case .wrongPasscode, .wrongPassphrase: .wrongPasscode
        case .coolingDown: .coolingDown
        case .passcodeNeeded: .notAuthorised
        case .noInstallation: .unreachable
        case .outcomeUnknown: .outcomeUnknown
        case .cancelled, .interrupted: .interrupted
        case .installation, .ambiguousWallet, .notConfirmed, .passcodeSet, .servicesRunning,
            .peerRefused, .unknownOwner, .knownOwner, .fileExists:
            .refused
        case .damagedFile, .unusableShares: .damaged
        }
    }
}
