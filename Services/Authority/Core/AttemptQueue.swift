internal import Loop
internal import Wire

/// Suspends passcode checks until their turn.
@ServiceLoop
final class AttemptQueue {
    private var schedule: AttemptSchedule
    private var sleepers: [UInt64: CheckedContinuation<Void, Never>] = [:]

    init(_ bounds: AttemptSchedule.Bounds) { schedule = AttemptSchedule(bounds) }

    var waitingCount: Int { schedule.waitingCount }

    /// Waits for a thread; it is the caller's until ``freeThread()``, and his place among the
    /// owner's checks until ``end(_:)``.
    func enter(_ owner: Owner) async throws(BusFault) {
        switch schedule.ask(owner) {
        case .start: return
        case .full: throw .busy
        case .wait(let number): await withCheckedContinuation { sleepers[number] = $0 }
        }
    }

    func freeThread() { wake(schedule.freeThread()) }

    func end(_ owner: Owner) { wake(schedule.end(owner)) }

    private func wake(_ number: UInt64?) {
        guard let number else { return }
        sleepers.removeValue(forKey: number)?.resume()
    }
}
