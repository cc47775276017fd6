internal import Wire

/// Tells a passcode check that is under way whether its owner was locked meanwhile.
///
/// Only owners with a check under way take memory.
struct LockWatch {
    private struct Watched {
        var checks = 0
        var locks: UInt64 = 0
    }

    private var owners: [Owner: Watched] = [:]

    /// A check begins.
    ///
    /// - Returns: what ``wasLocked(_:since:)`` takes.
    mutating func begin(_ owner: Owner) -> UInt64 {
        owners[owner, default: Watched()].checks += 1
        return owners[owner]?.locks ?? 0
    }

    /// A check ends.
    mutating func end(_ owner: Owner) {
        owners[owner]?.checks -= 1
        if owners[owner]?.checks == 0 { owners[owner] = nil }
    }

    mutating func lock(_ owner: Owner) { owners[owner]?.locks += 1 }

    func wasLocked(_ owner: Owner, since mark: UInt64) -> Bool { owners[owner]?.locks != mark }
}
