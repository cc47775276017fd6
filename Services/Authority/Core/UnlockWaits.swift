internal import Loop
internal import Tokens

/// Owner-managed sessions that wait for their owner to be unlocked, each at most once.
@ServiceLoop
final class UnlockWaits {
    private struct Wait {
        let number: UInt64
        let wake: CheckedContinuation<Void, Never>
    }

    private var waits: [SessionID: Wait] = [:]
    private var lastNumber: UInt64 = 0

    /// Suspends until the session is woken, by its owner's gate or by its end, or until a moment.
    ///
    /// An earlier wait of the session ends first.
    func wait(_ session: SessionID, until moment: UInt64, timers: Timers) async {
        wake(session)
        lastNumber += 1
        let number = lastNumber
        ServiceLoop.start { [weak self] in
            await timers.sleep(until: moment)
            self?.wake(session, number)
        }
        await withCheckedContinuation { waits[session] = Wait(number: number, wake: $0) }
    }

    func wake(_ session: SessionID) { waits.removeValue(forKey: session)?.wake.resume() }

    private func wake(_ session: SessionID, _ number: UInt64) {
        guard waits[session]?.number == number else { return }
        wake(session)
    }
}
