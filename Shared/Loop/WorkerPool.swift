internal import Glibc
internal import Synchronization

/// A few threads for work that would hold up the loop, such as a key derivation.
public final class WorkerPool: Sendable {
    private typealias Work = @Sendable () -> Void

    private let waiting = Mutex<[Work]>([])
    private let available = Semaphore()
    /// How many threads the pool has.
    public let width: Int

    /// - Parameter width: how many pieces of work run at a time; at least one.
    public convenience init(width: Int) { self.init(threads: max(1, width)) }

    /// A pool without threads: work is done where it is asked for, so that a simulated run repeats
    /// exactly.
    public static var withoutThreads: WorkerPool { WorkerPool(threads: 0) }

    private init(threads: Int) {
        width = threads
        for _ in 0..<self.width {
            Thread.startDetached { [self] in workForEver() }
        }
    }

    /// Runs a piece of work on one of the threads; the caller is suspended, not blocked.
    public func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
        guard width > 0 else { return work() }
        return await withCheckedContinuation { continuation in
            waiting.withLock { $0.append { continuation.resume(returning: work()) } }
            available.signal()
        }
    }

    private func workForEver() {
        while true {
            available.wait()
            let work = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            work?()
        }
    }
}

/// A POSIX semaphore.
private final class Semaphore: @unchecked Sendable {
    private let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(handle, 0, 0) }

    deinit {
        sem_destroy(handle)
        handle.deallocate()
    }

    func signal() { sem_post(handle) }

    func wait() { while sem_wait(handle) != 0 && errno == EINTR {} }
}
