public import Loop
internal import Wire

/// What must still be true when a change is committed or a reply leaves: that a lease holds.
///
/// A handler looks too, but a turn of the loop can be long, and a revocation is acknowledged when
/// the leases are over.
@ServiceLoop
public final class ReplyConditions {
    private var all: [@ServiceLoop () throws -> Void] = []

    nonisolated init() {}

    func add(_ condition: @escaping @ServiceLoop () throws -> Void) { all.append(condition) }

    /// Why the first that does not hold does not; nil when all hold.
    func refusal() -> Refusal? {
        for condition in all {
            do { try condition() } catch { return Refusal(of: error) }
        }
        return nil
    }
}

extension Call {
    /// Drops the work of this call if a condition does not hold when it is committed or answered.
    @ServiceLoop
    public func onlyWhile(_ condition: @escaping @ServiceLoop () throws -> Void) throws {
        try condition()
        conditions.add(condition)
    }
}
