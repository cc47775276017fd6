public import Clocks
internal import LimiterMessages
public import Storage
internal import Wire

extension LimiterService {
    /// Makes of a store that comes from elsewhere one under which nobody gets an evaluation more.
    ///
    /// Nobody can tell whether it is the newest, or what was tried since it was copied. So every
    /// owner has tried at least six times, or as often as any store says, and waits afresh: what
    /// ``AttemptLedger/Verdict/rolledBack`` does where an old copy is noticed. Attempts that were
    /// open are over. Where the number of charges is lost the ledger stays damaged.
    ///
    /// - Parameter present: the store whose place it takes, if that can be read.
    public nonisolated static func raiseCounts(
        in arrived: Database, over present: Database?, at now: BootMoment
    ) throws {
        let store = LimiterStore(database: arrived)
        let standing = present.map { LimiterStore(database: $0) }
        try arrived.write {
            for owner in try store.owners() {
                guard let stored = try store.ledger(of: owner), stored.lastCharge != nil else {
                    continue
                }
                let enrolment = try store.enrolment(of: owner)
                let other = standing.flatMap { $0.readableLedger(of: owner, in: enrolment?.id) }
                let ledgers = ([stored] + [other].compactMap(\.self)).map {
                    AttemptLedger(
                        repairing: $0.record, lastCharge: $0.lastCharge ?? 0, at: now)
                }
                let raised = ledgers.reduce(
                    AttemptLedger(repairing: nil, lastCharge: 0, at: now)
                ) { $0.raised(to: $1) }
                try store.replace(raised, of: owner, renumbers: true)
            }
        }
        try arrived.commitBatch()
    }
}

extension LimiterStore {
    /// What stands of an owner in an enrolment; nil where that cannot be read either.
    fileprivate func readableLedger(of owner: Owner, in id: EnrolmentID?) -> StoredLedger? {
        guard let id, let known = try? enrolment(of: owner), known.id == id else { return nil }
        return try? ledger(of: owner)
    }
}
