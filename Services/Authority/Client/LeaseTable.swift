internal import AuthorityMessages
internal import Loop
internal import Tokens
internal import Wire

/// The leases that have not ended: those that serve again, and those that serve one operation.
@ServiceLoop
final class LeaseTable {
    /// What a lease can serve again for.
    struct Use: Hashable, Sendable {
        let token: [UInt8]
        let presenter: PeerKey
        let namespace: Namespace?
        let purpose: Purpose
    }

    private struct Entry {
        weak var lease: Lease?
    }

    private var reusable: [Use: Lease] = [:]
    /// Every lease that somebody still has.
    private var held: [Entry] = []
    /// At how many of them those that are gone are looked for: looking at each lease anew for every
    /// other one would take most of a busy service's time.
    private var crowd = smallestCrowd

    private static let smallestCrowd = 16

    /// A lease that lasts at least until a moment.
    func lease(for use: Use, until moment: UInt64) -> Lease? {
        guard let lease = reusable[use], moment < lease.ends else { return nil }
        return lease
    }

    func keep(_ lease: Lease, for use: Use) {
        reusable[use] = lease
        note(lease)
    }

    /// Notes a lease for one operation, whose holder alone keeps it.
    func note(_ lease: Lease) {
        if held.count >= crowd {
            held.removeAll { $0.lease == nil }
            crowd = max(Self.smallestCrowd, 2 * held.count)
        }
        held.append(Entry(lease: lease))
    }

    /// Drops the leases of some sessions at once.
    func revoke(where isMeant: (Lease.Subject) -> Bool) {
        for entry in held {
            guard let lease = entry.lease, isMeant(lease.subject) else { continue }
            lease.revoke()
        }
        reusable = reusable.filter { !$0.value.isRevoked }
    }

    /// Lets go of those that serve again; operations that have one go on.
    func forgetReusable() { reusable.removeAll() }

    /// Lets go of those that are over, so that their keys are wiped.
    ///
    /// - Returns: when the next one is over; nil where none is left.
    func sweep(at now: UInt64) -> UInt64? {
        reusable = reusable.filter { now < $0.value.ends }
        return reusable.values.map(\.ends).min()
    }

    /// How many leases serve again.
    var count: Int { reusable.count }

    /// How many leases are known, those that were let go and not yet swept included.
    var knownCount: Int { held.count }
}
