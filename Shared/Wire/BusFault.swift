/// Errors of the bus itself, before a service looks at a request or after it answered.
public enum BusFault: String, NamedFault {
    case malformed = "bus.malformed"
    case unknownMethod = "bus.unknown_method"
    case forbidden = "bus.forbidden"
    case busy = "bus.busy"
    case oversize = "bus.oversize"
    case expired = "bus.expired"
    case overdue = "bus.overdue"
    case keyReused = "bus.key_reused"
    case identity = "bus.identity"
    case unsupportedVersion = "bus.unsupported_version"
    case inFlight = "bus.in_flight"
    case withdrawn = "bus.withdrawn"
    case interrupted = "bus.interrupted"
    case internalError = "bus.internal"
    /// Client side: no connection was made and nothing was sent.
    case unreachable = "bus.unreachable"
    /// Client side: the service does not know this client's key.
    case unadmitted = "bus.unadmitted"
    /// Client side: the connection broke after the request was sent.
    case lost = "bus.lost"
    /// Client side: an answer came and is not one.
    case badReply = "bus.bad_reply"

    public var meaning: String {
        switch self {
        case .malformed:
            "The request is not in the form that its method defines. Use a client of the same "
                + "version as the service."
        case .unknownMethod:
            "The service has no such method. Use a client of the same version as the service."
        case .forbidden:
            "This peer may not call this method or speak for this owner. Its entry in the peers "
                + "folder says what it may do; `coffer peer add` writes one."
        case .busy: "The service has as much work as it takes. Ask again a little later."
        case .oversize:
            "The request is larger than the service takes, or has too many attachments."
        case .expired:
            "No answer came in time. Ask for the outcome before asking again, or repeat with the "
                + "same idempotency key."
        case .overdue:
            "The time that the request allowed was over before work on it began. Nothing was done; "
                + "allow more time."
        case .keyReused:
            "The idempotency key was used for another request. Take a new key for every new "
                + "thing asked for."
        case .identity:
            "The client chose its own routing id, which services refuse. Set none."
        case .unsupportedVersion:
            "The service does not speak this version of the protocol. Update the older side."
        case .inFlight:
            "A request with this idempotency key is still being worked on. Ask for its outcome."
        case .withdrawn:
            "The change did not come before its outcome was asked for, and is taken no more: "
                + "nothing was done. Enter it again, under a new idempotency key."
        case .interrupted:
            "The service stopped in the middle of this change and undid it. Enter it again."
        case .internalError:
            "The service met something that it did not foresee. Its log names the kind."
        case .unreachable:
            "The service cannot be reached. See whether it runs and listens where the client "
                + "looks."
        case .unadmitted:
            "The service does not know this client's key. Add it with `coffer peer add` on the "
                + "service's side."
        case .lost:
            "The connection broke after the request was sent. Ask for the outcome before asking "
                + "again, or repeat with the same idempotency key."
        case .badReply:
            "The service sent something that is not an answer. Ask for the outcome, and use a "
                + "client of the same version as the service."
        }
    }

    public var outcome: Outcome {
        switch self {
        case .expired, .lost, .badReply, .inFlight, .internalError: .unknown
        default: .rejected
        }
    }

    public var retryAfterMilliseconds: UInt64? {
        switch self {
        case .busy, .inFlight: 100
        case .unreachable: 1_000
        default: nil
        }
    }
}
