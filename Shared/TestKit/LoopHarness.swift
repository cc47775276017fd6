internal import Glibc
public import Loop
internal import Synchronization

/// Runs code of the ``ServiceLoop`` in a test process.
///
/// The loop's queue is the process's own, so one thread drains it for all tests, and its users have
/// it one after the other: while a body runs, nobody else's jobs are on the loop. A long test calls
/// ``run(_:)`` many times rather than once, to let others in between.
public enum LoopHarness {
    /// Runs a body on the loop to its end.
    ///
    /// A body that calls this again waits for itself for ever.
    public static func run<T: Sendable>(
        _ body: @escaping @ServiceLoop @Sendable () async throws -> T
    ) async throws -> T {
        _ = DrainThread.shared
        await turn.take()
        let result = await Task(executorPreference: ServiceLoop.queue, operation: body).result
        turn.giveBack()
        return try result.get()
    }

    /// Lends the loop's thread to a body that drains the queue itself, in an order of its choice.
    ///
    /// The body runs outside any job; nothing runs on the loop but what it runs.
    public static func drive<T: Sendable>(
        _ body: @escaping @Sendable (JobQueue) throws -> T
    ) async throws -> T {
        await turn.take()
        let result = await withCheckedContinuation { continuation in
            DrainThread.shared.lend {
                continuation.resume(returning: Result { try body(ServiceLoop.queue) })
            }
        }
        turn.giveBack()
        return try result.get()
    }

    /// Inside a body on the loop: lets all work that waits run, and the work that this makes.
    ///
    /// What waits for another thread or for a timer is not waited for.
    @ServiceLoop
    public static func settle() async {
        // A yielding task goes to the queue's end, behind what waits; one more turn sees whether
        // that made more work.
        repeat { await Task.yield() } while !ServiceLoop.queue.isEmpty
    }

    private static let turn = Turn()
}

/// Whose turn it is, first come first served.
private final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func take() async {
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state -> Bool in
                if state.isTaken {
                    state.waiting.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isMine { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

/// The one thread that is the loop of a test process.
private final class DrainThread: @unchecked Sendable {
    static let shared = DrainThread()

    private let wakeUp = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let borrowers = Mutex<[@Sendable () -> Void]>([])

    private init() {
        sem_init(wakeUp, 0, 0)
        Thread.startDetached { [self] in drainForEver() }
    }

    func lend(_ body: @escaping @Sendable () -> Void) {
        borrowers.withLock { $0.append(body) }
        sem_post(wakeUp)
    }

    private func claim() {
        ServiceLoop.queue.claim { [self] in sem_post(wakeUp) }
    }

    private func drainForEver() {
        claim()
        while true {
            if let borrower = borrowers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                borrower()
                // A borrower may have claimed the queue for a loop of its own.
                claim()
            }
            ServiceLoop.queue.runWaiting()
            while sem_wait(wakeUp) != 0 && errno == EINTR {}
        }
    }
}
