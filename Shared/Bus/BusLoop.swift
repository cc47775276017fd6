public import Clocks
public import Loop
internal import Synchronization

/// The turn of a service: take what came, wake who is due, run what can run, then commit.
///
/// The thread that claims the loop is the service's; it blocks in ``run()`` and sleeps there while
/// nothing happens.
@ServiceLoop
public final class BusLoop {
    public let clock: any BootClock
    public let timers: Timers
    /// Called at the end of each turn, when no job is left or enough have run: the place to commit
    /// and to send replies.
    public var onTurnEnd: (@ServiceLoop () -> Void)?

    /// Names something that the loop waits for.
    public struct Source: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Entry {
        let source: Source
        let item: PollItem
        /// Keeps the socket open for as long as it is waited for.
        let socket: Socket?
        let handler: @ServiceLoop () -> Void
    }

    /// How many jobs run in one turn before the sockets get a look; a running batch is finished.
    private static let jobsPerTurn = 4_096

    private let wake: Wake
    private let alarm: Alarm
    private var entries: [Entry] = []
    private var items: [PollItem] = []
    private var itemsAreStale = true
    private var nextNumber: UInt64 = 0

    /// Makes the calling thread the service loop's: code of the loop may run on it from now on,
    /// through `ServiceLoop.assumeIsolated`, and in ``run()``.
    public nonisolated static func claim(clock: any BootClock) throws(BusError) -> BusLoop {
        let wake = try Wake()
        let alarm = try Alarm()
        ServiceLoop.queue.claim { wake.wakeIfAsleep() }
        return ServiceLoop.assumeIsolated { BusLoop(clock: clock, wake: wake, alarm: alarm) }
    }

    private init(clock: any BootClock, wake: Wake, alarm: Alarm) {
        self.clock = clock
        self.wake = wake
        self.alarm = alarm
        timers = Timers(clock: clock)
    }

    /// Calls the handler in each turn in which requests wait; it takes a bounded number of them.
    @discardableResult
    public func add(
        readable socket: RequestSocket, handler: @escaping @ServiceLoop () -> Void
    ) -> Source {
        add(socket.socket, handler: handler)
    }

    /// Calls the handler in each turn in which a descriptor is readable.
    ///
    /// - Parameter descriptor: open until it is removed; the caller closes it.
    @discardableResult
    public func add(
        descriptor: Int32, handler: @escaping @ServiceLoop () -> Void
    ) -> Source {
        add(.reading(descriptor), keeping: nil, handler: handler)
    }

    /// Waits for a source no longer; its handler is not called again.
    public func remove(_ source: Source) {
        entries.removeAll { $0.source == source }
        itemsAreStale = true
    }

    func add(_ socket: Socket, handler: @escaping @ServiceLoop () -> Void) -> Source {
        add(.reading(socket), keeping: socket, handler: handler)
    }

    private func add(
        _ item: PollItem, keeping socket: Socket?, handler: @escaping @ServiceLoop () -> Void
    ) -> Source {
        nextNumber += 1
        let source = Source(number: nextNumber)
        entries.append(Entry(source: source, item: item, socket: socket, handler: handler))
        itemsAreStale = true
        return source
    }

    /// Takes turns on the calling thread, which must have claimed the loop, until ``stop()``.
    ///
    /// A stop that came before it counts too: then it takes one turn.
    public nonisolated func run() {
        ServiceLoop.assumeIsolated {
            repeat {
                takeTurn()
            } while !wake.isStopping.exchange(false, ordering: .sequentiallyConsistent)
        }
    }

    /// Makes ``run()`` return after the turn that it is in; from any thread or signal handler.
    public nonisolated func stop() {
        wake.isStopping.store(true, ordering: .sequentiallyConsistent)
        wake.bell.ring()
    }

    private func takeTurn() {
        wait()
        dispatch()
        timers.fire()
        ServiceLoop.queue.runWaiting(limit: Self.jobsPerTurn)
        onTurnEnd?()
    }

    private func wait() {
        if itemsAreStale { rebuildItems() }
        alarm.set(for: timers.nextDeadline, clock: clock)
        wake.isAsleep.store(true, ordering: .sequentiallyConsistent)
        let mustNotSleep =
            !ServiceLoop.queue.isEmpty
            || wake.isStopping.load(ordering: .sequentiallyConsistent)
        PollItem.wait(for: &items, milliseconds: mustNotSleep ? 0 : -1)
        wake.isAsleep.store(false, ordering: .sequentiallyConsistent)
    }

    private func rebuildItems() {
        items = [.reading(wake.bell.descriptor), .reading(alarm.descriptor)]
        items += entries.map(\.item)
        itemsAreStale = false
    }

    private func dispatch() {
        if items[0].isReady { wake.bell.silence() }
        if items[1].isReady { alarm.silence() }
        // A handler may add and remove sources: what was waited for is kept until all are called.
        let (waited, items) = (entries, self.items)
        for (index, entry) in waited.enumerated() where items[index + 2].isReady {
            if itemsAreStale && !entries.contains(where: { $0.source == entry.source }) { continue }
            entry.handler()
        }
    }
}

/// How other threads reach the loop's.
private final class Wake: Sendable {
    let bell: Bell
    /// Set while the loop's thread may block, so that a busy loop is not rung for each job.
    let isAsleep = Atomic(false)
    let isStopping = Atomic(false)

    init() throws(BusError) { bell = try Bell() }

    func wakeIfAsleep() {
        if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { bell.ring() }
    }
}
