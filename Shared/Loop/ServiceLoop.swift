/// The one thread on which all code of a service runs.
///
/// A service decides between two suspensions and never in parallel with itself: what it loaded is
/// still true when it stores. In a program the thread that called ``JobQueue/claim(wake:)`` drains
/// the queue between two looks at its sockets, so a request that needs no slow work is decoded,
/// handled and answered without a thread hop. A simulation drains the same queue in an order of
/// its choice.
@globalActor
public actor ServiceLoop {
    public static let shared = ServiceLoop()
    /// Where work for the loop waits.
    public static let queue = JobQueue()

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        Self.queue.asUnownedSerialExecutor()
    }

    /// Starts work of its own on the loop.
    ///
    /// Whatever it suspends for, it goes on in the loop's queue; a task that was started otherwise
    /// takes the way over the system's thread pool each time.
    public static func start(_ work: @escaping @ServiceLoop @Sendable () async -> Void) {
        Task(executorPreference: queue, operation: work)
    }

    /// Runs a closure that belongs to the loop from the thread that is the loop.
    ///
    /// The thread that drains the queue is the loop, but the compiler cannot see it; a call from
    /// any other thread ends the program.
    public static func assumeIsolated<T, E: Error>(
        _ body: @ServiceLoop () throws(E) -> T
    ) throws(E) -> T {
        queue.checkIsolated()
        // The isolated and the plain form of a closure have one representation; MainActor's
        // assumeIsolated in the standard library rests on the same fact.
        typealias Plain = () throws(E) -> T
        return try withoutActuallyEscaping(body) { escaping throws(E) -> T in
            let plain = unsafeBitCast(escaping, to: Plain.self)
            return try plain()
        }
    }
}
