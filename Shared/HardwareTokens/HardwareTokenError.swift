internal import CP11Kit

/// Why a hardware token did not do what was asked.
public enum HardwareTokenError: Error, Equatable {
    /// Not a `pkcs11:` URI of a token, or one that says more than which token is meant.
    case invalidURI
    /// No token that fits is plugged in.
    case noToken
    /// More than one token fits.
    case severalTokens
    /// The token wants a PIN and was given none.
    case pinNeeded
    /// The PIN is not the token's; the token counts such tries itself.
    case wrongPIN
    /// The token takes no PIN any more.
    case pinLocked
    /// The person did not confirm at the token.
    case cancelled
    /// The token has no object of that name: it was deleted, or the token was cleared.
    case noObject
    /// The token takes no copy in the wanted form, or in none.
    case unsupported
    /// What the token gave is no access key that was put there.
    case mismatch
    /// No module could be loaded.
    case noModule
    /// Anything else; the module's return value.
    case failed(UInt)

    init(_ value: CK_RV) {
        switch value {
        case CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE: self = .wrongPIN
        case CKR_PIN_LOCKED: self = .pinLocked
        case CKR_USER_NOT_LOGGED_IN: self = .pinNeeded
        case CKR_FUNCTION_CANCELED: self = .cancelled
        case CKR_DEVICE_REMOVED, CKR_TOKEN_NOT_PRESENT, CKR_TOKEN_NOT_RECOGNIZED: self = .noToken
        default: self = .failed(value)
        }
    }
}

/// Throws unless a function of a module did its work.
func check(_ value: CK_RV) throws(HardwareTokenError) {
    guard value == CKR_OK else { throw HardwareTokenError(value) }
}
