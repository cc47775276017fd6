internal import Glibc
internal import Synchronization

/// The executor of ``ServiceLoop``: a queue that one thread drains.
///
/// It is a task executor too. The runtime resumes a continuation, and yields, on the task's
/// executor and not on the actor's; for a task that prefers this queue both are one, and nothing of
/// it runs on another thread.
public final class JobQueue: SerialExecutor, TaskExecutor {
    private struct State {
        var waiting: [UnownedJob] = []
        var wake: (@Sendable () -> Void)?
        var owner: UInt?
    }

    private let state = Mutex(State())
    /// Jobs of the round under way that have not begun.
    private let taken = Atomic(0)

    init() {}

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            state.waiting.append(job)
            return state.waiting.count == 1 ? state.wake : nil
        }
        wake?()
    }

    /// Makes the calling thread the one that drains the queue.
    ///
    /// - Parameter wake: called, from any thread, when the queue stops being empty.
    public func claim(wake: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.owner = Self.thisThread
            state.wake = wake
        }
    }

    /// Runs the jobs that wait, and those that they make, in order.
    ///
    /// - Parameter limit: how many at most, so that jobs that make jobs cannot starve the sockets.
    /// - Returns: how many ran.
    @discardableResult
    public func runWaiting(limit: Int = .max) -> Int {
        checkIsolated()
        var ran = 0
        while ran < limit {
            let batch = state.withLock { state in
                defer { state.waiting.removeAll(keepingCapacity: true) }
                return state.waiting
            }
            guard !batch.isEmpty else { break }
            taken.store(batch.count, ordering: .relaxed)
            for job in batch {
                taken.subtract(1, ordering: .relaxed)
                run(job)
            }
            ran += batch.count
        }
        return ran
    }

    /// Runs one waiting job, chosen by its position, and says how many waited before.
    ///
    /// - Parameter choose: given how many wait, the index of the one to run.
    @discardableResult
    public func runOne(choosing choose: (Int) -> Int) -> Int {
        checkIsolated()
        let (job, count) = state.withLock { state -> (UnownedJob?, Int) in
            let count = state.waiting.count
            guard count > 0 else { return (nil, 0) }
            return (state.waiting.remove(at: choose(count)), count)
        }
        if let job { run(job) }
        return count
    }

    private func run(_ job: UnownedJob) {
        job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    /// Whether no work waits, in the queue or in the round under way.
    public var isEmpty: Bool {
        taken.load(ordering: .relaxed) == 0 && state.withLock { $0.waiting.isEmpty }
    }

    public func checkIsolated() {
        let owner = state.withLock { $0.owner }
        precondition(owner == Self.thisThread, "this code belongs to the service loop")
    }

    public func isIsolatingCurrentContext() -> Bool? {
        state.withLock { $0.owner } == Self.thisThread
    }

    private static var thisThread: UInt { UInt(pthread_self()) }
}
