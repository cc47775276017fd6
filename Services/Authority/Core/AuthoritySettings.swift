/// What an installation chooses for its authority.
public struct AuthoritySettings: Sendable, Equatable {
    /// What a passcode check should take, in milliseconds of key derivation.
    public var kdfTargetMilliseconds = 350
    /// Derivations at a time.
    public var kdfThreads = PooledKDF.defaultThreads
    /// Passcode checks that may wait for a free thread.
    public var kdfQueue = 256
    /// Of these, checks of one owner.
    public var kdfQueuePerOwner = 128
    /// Sessions in all.
    public var sessions = 10_000
    /// How long the limiter may take to answer.
    public var limiterTimeoutMilliseconds: UInt64 = 5_000
    /// How long the vault may take to answer.
    public var vaultTimeoutMilliseconds: UInt64 = 3_000
    /// How long a hardware token may take for one thing.
    public var tokenMilliseconds: UInt64 = 30_000

    public init() {}
}
