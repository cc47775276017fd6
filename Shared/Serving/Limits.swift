/// How much of everything a service takes before it answers `bus.busy`.
public struct Limits: Sendable, Equatable {
    /// Requests that one peer may have under way.
    public var inFlightPerPeer = 64
    /// Requests under way in all.
    public var inFlight = 1_024
    /// Changes of one peer whose outcome it has not named as settled.
    public var unsettledPerPeer = 1_024
    /// Milliseconds that a request may ask for at the most.
    public var timeoutMilliseconds: UInt64 = 120_000
    /// How long an outcome is kept that nobody settled, in seconds of running time.
    public var outcomeSeconds: UInt64 = 86_400
    /// How long an outcome is kept after it was settled, in seconds.
    public var settledSeconds: UInt64 = 60

    public init() {}
}
