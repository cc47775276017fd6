public import Wire

/// Why a hardware token gives nothing, or nothing is put on it.
///
/// In every case the route that was committed before stands as it was, and no attempt is counted.
public enum DeviceKeyFault: String, NamedFault {
    case none = "device_key.none"
    case unprotected = "device_key.unprotected"
    case invalidURI = "device_key.invalid_uri"
    case noToken = "device_key.no_token"
    case severalTokens = "device_key.several_tokens"
    case pinNeeded = "device_key.pin_needed"
    case wrongPIN = "device_key.wrong_pin"
    case pinLocked = "device_key.pin_locked"
    case cancelled = "device_key.cancelled"
    case noObject = "device_key.no_object"
    case mismatch = "device_key.mismatch"
    case unsupported = "device_key.unsupported"
    case tokenFailed = "device_key.token_failed"
    case timedOut = "device_key.timed_out"
    case noModule = "device_key.no_module"
    case busy = "device_key.busy"
    case full = "device_key.full"

    public var meaning: String {
        switch self {
        case .none:
            "No hardware token opens this owner's wallets. Enrol one with "
                + "`coffer device-key enroll`, or use the passcode."
        case .unprotected:
            "While protection is off wallets open without a token, and none is enrolled. Turn it "
                + "on with `coffer protection on`."
        case .invalidURI:
            "That is not a `pkcs11:` URI that names a token and nothing else, such as "
                + "`pkcs11:token=NAME`."
        case .noToken:
            "The token is not plugged in, or was pulled out. Plug it in, or use the passcode."
        case .severalTokens:
            "More than one token fits. Name its `serial` too; `p11tool --list-tokens` shows it."
        case .pinNeeded: "The token wants its PIN."
        case .wrongPIN: "The PIN is wrong. The token counts wrong ones itself."
        case .pinLocked:
            "The token takes no PIN any more. Unblock it with its own tools, or use the passcode."
        case .cancelled: "Nobody confirmed at the token."
        case .noObject:
            "The token has nothing of this owner: it was cleared. Use the passcode, and enrol "
                + "again."
        case .mismatch:
            "What the token gave is not this owner's key. Use the passcode, and enrol again."
        case .unsupported:
            "The token takes no copy in this form, or asks for no PIN. Try another form or token."
        case .tokenFailed:
            "The token or its module failed. Try again; the passcode opens the wallets meanwhile."
        case .timedOut:
            "The token did not answer in time. Try again; the passcode opens the wallets meanwhile."
        case .noModule:
            "No PKCS #11 module could be loaded. Install the token's, or look at `device_module` "
                + "in coffer.conf."
        case .busy: "A token of this owner is in use just now. Ask again when that is over."
        case .full:
            "Too many copies on tokens wait to be deleted. Delete them with "
                + "`coffer device-key remove`."
        }
    }

    public var retryAfterMilliseconds: UInt64? {
        switch self {
        case .busy: 1_000
        default: nil
        }
    }
}
