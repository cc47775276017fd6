public import Wire

/// Why the limiter gives no answer.
///
/// In every case nothing was charged, and no count was lowered.
public enum LimiterFault: String, NamedFault {
    case unknownOwner = "limiter.unknown_owner"
    case otherEnrolment = "limiter.other_enrolment"
    case otherKey = "limiter.other_key"
    case badChallenge = "limiter.bad_challenge"
    case badSignature = "limiter.bad_signature"
    case nonceSeen = "limiter.nonce_seen"
    case rolledBack = "limiter.rolled_back"
    case numbersUsedUp = "limiter.numbers_used_up"
    case noSuchAttempt = "limiter.no_such_attempt"
    case attemptOver = "limiter.attempt_over"
    case damaged = "limiter.damaged"
    case nothingToRepair = "limiter.nothing_to_repair"

    public var meaning: String {
        switch self {
        case .unknownOwner: "The limiter has no device secret of this owner."
        case .otherEnrolment: "The limiter knows this owner under another enrolment."
        case .otherKey:
            "The owner is enrolled under another confirm key, which stays for as long as the "
                + "owner is known."
        case .badChallenge: "The challenge is not open: unknown, used, or older than 60 s."
        case .badSignature: "The signature is not of the owner's confirm key."
        case .nonceSeen: "This attempt was sent before; it was not charged a second time."
        case .rolledBack:
            "The limiter's store is older than what the authority saw. It now counts at least "
                + "six attempts and waits 60 s."
        case .numbersUsedUp:
            "This enrolment has no charge number left, which only damage brings about. "
                + "`coffer attempts repair` numbers anew, from six attempts and 60 s."
        case .noSuchAttempt: "No such attempt is open."
        case .attemptOver: "The attempt is older than 60 s or of an earlier boot."
        case .damaged:
            "The attempts record of this owner is missing or not valid and nothing is tried. "
                + "`coffer attempts repair` sets it to six attempts and 60 s."
        case .nothingToRepair: "The attempts record is valid; it stays as it is."
        }
    }

    public var retryAfterMilliseconds: UInt64? { self == .rolledBack ? 60_000 : nil }
}
