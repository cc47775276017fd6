/// How hard and how long a run works.
public struct MigrationLimits: Sendable, Equatable {
    /// Wallets of a run that are worked on at a time.
    public var lanes = 8
    /// How long a run goes on asking a vault that does not answer, in milliseconds.
    public var patienceMilliseconds: UInt64 = 10_000
    /// How long it waits before it asks again, in milliseconds.
    public var pauseMilliseconds: UInt64 = 200
    /// How long one answer of the vault may take, in milliseconds.
    public var answerMilliseconds: UInt64 = 5_000

    public init() {}
}
