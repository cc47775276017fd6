/// What became of a change that was asked for under an idempotency key.
public enum OutcomeStatus: String, TextIdentifier {
    case done
    case rejected
    case inFlight = "in_flight"

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}
