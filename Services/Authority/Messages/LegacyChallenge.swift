/// How an earlier app stored the code that it asked for.
public enum LegacyChallenge: String, Sendable {
    case numericalPassword
    case plaintextPassword

    /// The kind that a code of so many characters is given when it becomes a passcode.
    ///
    /// A numerical code of neither four nor six digits is given `digits4`, whose rule it then
    /// fails: it is not taken over, and the earlier lock stays.
    public func kind(characterCount: Int) -> PasscodeKind {
        switch self {
        case .numericalPassword: characterCount == 6 ? .digits6 : .digits4
        case .plaintextPassword: .alphanumeric
        }
    }
}
