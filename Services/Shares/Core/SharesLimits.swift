/// How much backup-shares keeps.
public struct SharesLimits: Sendable, Equatable {
    /// Holders of one owner; all of them are told in one reply.
    public var holders = 128
    /// Splits in one namespace.
    ///
    /// One that is superseded gives way to a new one: see
    /// ``SharesStore/makeRoom(owner:namespace:limit:)``.
    public var splitsPerNamespace = 100_000
    /// Restorations of one namespace that are not finished.
    public var restorationsPerNamespace = 16

    public init() {}
}
