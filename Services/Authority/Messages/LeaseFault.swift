public import Wire

/// Why a service that works under the authority's leave does not do what it was asked.
///
/// Nothing was done, except that after an answer that did not come a proof may be spent.
public enum LeaseFault: String, NamedFault {
    case notAuthorised = "lease.not_authorised"
    case over = "lease.over"
    case authorityUnreachable = "lease.authority_unreachable"
    case unanswered = "lease.unanswered"

    public var meaning: String {
        switch self {
        case .notAuthorised:
            "This needs another session: one of the right scope, started with the passcode."
        case .over: "The authority's leave ran out before the work was done. Ask again."
        case .authorityUnreachable:
            "The credential authority does not answer, and nothing is opened without it. Start "
                + "it with `deploy/launch up`."
        case .unanswered:
            "The credential authority was asked for leave and gave no answer in time. Nothing was "
                + "opened or changed, but a proof may be spent: begin with a new one."
        }
    }

    public var outcome: Outcome {
        switch self {
        case .unanswered: .unknown
        default: .rejected
        }
    }

    public var retryAfterMilliseconds: UInt64? {
        switch self {
        case .over, .authorityUnreachable: 1_000
        default: nil
        }
    }
}
