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
    public init(width: Int) {
        self.width = max(1, width)
        for _ in 0..<self.width { startThread { [self] in workForEver() } }
    }

    /// Runs a piece of work on one of the threads; the caller is suspended, not blocked.
    public func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
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

/// Starts a detached thread that blocks all signals, so that they reach the loop's thread.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    var everySignal = sigset_t()
    var before = sigset_t()
    sigfillset(&everySignal)
    pthread_sigmask(SIG_SETMASK, &everySignal, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let code = pthread_create(
        &thread, &attributes,
        { context in
            guard let context else { return nil }
            Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    precondition(code == 0, "the system refuses a thread")
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
