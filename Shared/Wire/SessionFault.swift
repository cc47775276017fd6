/// Why a token does not open anything.
///
/// There is no third answer, and no hint why.
public enum SessionFault: String, NamedFault {
    case invalid = "session.invalid"
    case ended = "session.ended"

    public var meaning: String {
        switch self {
        case .invalid:
            "The session token is not valid for this request. Unlock again, or ask for a "
                + "session with the scope that this request needs."
        case .ended: "The session is over. Unlock again to get a new one."
        }
    }
}
