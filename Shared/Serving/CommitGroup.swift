public import Clocks
public import Loop
public import Storage
public import Wire

/// The writes of one turn of the loop, committed together, and the replies that wait for it.
///
/// Each request's writes are a savepoint of their own; the turn ends with one commit, and only then
/// do the replies leave. A thing that may be true only after its write is durable (a session, an
/// opened gate) awaits ``committed()`` first.
@ServiceLoop
public final class CommitGroup {
    public let store: Database
    public let journal: OutcomeJournal

    /// How long after an erasure failed it is tried again, in nanoseconds.
    private static let erasurePause: UInt64 = 1_000_000_000

    /// What becomes of the writes of the request at work, where a host runs it.
    @TaskLocal static var mark: WriteMark?

    private let clock: any BootClock
    /// The requests that wrote in this turn.
    private var writers: [WriteMark] = []
    private var erasureTried: UInt64 = 0
    private var waiters: [CheckedContinuation<StorageFault?, Never>] = []

    public init(store: Database, clock: any BootClock, limits: Limits = Limits()) {
        self.store = store
        self.clock = clock
        journal = OutcomeJournal(store: store, clock: clock, limits: limits)
    }

    /// Writes as one step: all of it is in the turn's commit, or none.
    public func write<T>(_ body: () throws -> T) throws -> T {
        let written = try store.write(body)
        if let mark = Self.mark, !writers.contains(where: { $0 === mark }) { writers.append(mark) }
        return written
    }

    /// Makes a change and writes its outcome in the same step.
    ///
    /// - Parameter erasing: whether key material is removed, so that the reply also waits until its
    ///   remains are gone from the store's log.
    public func change<R: Request>(
        _ call: Call<R>, erasing: Bool = false, _ body: () throws -> R.Reply
    ) throws -> Answer<R> {
        try write {
            let reply = try body()
            if let ticket = call.ticket {
                try journal.record(
                    .init(status: .done, digest: ticket.digest, code: nil, body: reply.encoded()),
                    for: ticket.name)
            }
            if erasing { store.oweErasure() }
            return Answer(reply)
        }
    }

    /// Removes all rows of an owner, key material among them, and goes on when nothing of them is
    /// on the disk.
    ///
    /// - Throws: ``StorageFault/residue`` where remains are left for now.
    public func wipe(_ owner: Owner, tables: [OwnerTable]) async throws {
        try store.write {
            for table in tables { _ = try store.run(table.delete, .text(owner.text)) }
            store.oweErasure()
        }
        try await committed()
        guard !store.erasureOwed else { throw StorageFault.residue }
    }

    /// The first write of a change that has several: until its last one, its outcome is in flight.
    ///
    /// The service names it among its ``Service/unfinishedChanges()`` until
    /// ``change(_:erasing:_:)`` or ``conclude(_:with:)`` wrote the last one, or a refusal ended it.
    public func beginChange<R: Request>(_ call: Call<R>, _ body: () throws -> Void) throws {
        try write {
            try body()
            guard let ticket = call.ticket else { return }
            try journal.record(
                .init(status: .inFlight, digest: ticket.digest, code: nil, body: []),
                for: ticket.name)
        }
    }

    /// Writes that a change did not happen; part of the caller's step.
    ///
    /// A service that takes back what ``beginChange(_:_:)`` wrote does so in the same step: else
    /// the outcome could stay in flight with nobody left to settle it. One that passes by itself is
    /// not kept: the same thing may be asked for again.
    public func refuse(_ ticket: ChangeTicket, with refusal: Refusal) throws(StorageError) {
        guard refusal.retryAfterMilliseconds == nil else {
            return try journal.forgetBegun(ticket.name)
        }
        try journal.record(
            .rejected(with: refusal, digest: ticket.digest), for: ticket.name)
    }

    /// Writes what became of a change that was begun earlier and whose call is gone: its reply, or
    /// why it did not happen; part of the caller's step.
    public func conclude(
        _ ticket: ChangeTicket, with result: Result<some Message, Refusal>
    ) throws(StorageError) {
        let entry: OutcomeJournal.Entry =
            switch result {
            case .success(let reply):
                .init(status: .done, digest: ticket.digest, code: nil, body: reply.encoded())
            case .failure(let refusal): .rejected(with: refusal, digest: ticket.digest)
            }
        try journal.record(entry, for: ticket.name)
    }

    /// Suspends until what this turn wrote is durable.
    public func committed() async throws(StorageFault) {
        guard store.hasOpenBatch else { return }
        let fault = await withCheckedContinuation { waiters.append($0) }
        // What an erasure still owes says nothing of whether this is durable.
        if fault == .failed { throw .failed }
    }

    /// Undoes what the turn wrote; who waits for it to be durable is told that it is not.
    func withdraw() {
        store.abandonBatch()
        for writer in takeWriters() { writer.isLost = true }
        wake(with: .failed)
    }

    /// Ends the turn.
    ///
    /// - Returns: what the replies of this turn must say instead of success; nil when all is
    ///   durable.
    func end() -> StorageFault? {
        let fault = commit()
        for writer in takeWriters() {
            // After a failed commit nobody knows whether it is in the file.
            writer.mayBeDurable = true
            if fault == .failed { writer.isLost = true }
        }
        wake(with: fault)
        return fault
    }

    private func takeWriters() -> [WriteMark] {
        defer { writers = [] }
        return writers
    }

    private func wake(with fault: StorageFault?) {
        let woken = waiters
        waiters = []
        for waiter in woken { waiter.resume(returning: fault) }
    }

    private func commit() -> StorageFault? {
        guard store.hasOpenBatch else {
            guard store.erasureOwed else { return nil }
            let now = clock.now.nanoseconds
            guard now &- erasureTried >= Self.erasurePause else { return .residue }
            erasureTried = now
            return (try? store.settleErasure()) == nil ? .residue : nil
        }
        do {
            try store.commitBatch()
            return nil
        } catch {
            guard case .residue = error else { return .failed }
            return .residue
        }
    }
}

/// What became of the writes of one request, in however many turns it made them.
@ServiceLoop
final class WriteMark {
    /// Whether some of them are in the store, or may be.
    fileprivate(set) var mayBeDurable = false
    /// Whether some of them were undone, or may be.
    fileprivate(set) var isLost = false

    nonisolated init() {}
}
