import Clocks
import Loop
import Serving
import Storage
import TestKit
import Wire

/// One life of a service, from a start to its end.
@ServiceLoop
protocol SimulatedProcess: AnyObject {
    var life: Int { get }
    var timers: Timers { get }
    var sender: SimulatedNetwork.Sender { get }
    var clock: ProcessClock { get }
    func receive(_ exchange: SimulatedNetwork.Exchange)
    func hear(_ notice: EventNotice)
    /// - Throws: where the process must end.
    func endTurn() throws
    /// The owners that it has anything of.
    func owners() throws -> [Owner]
    /// Lets go of the store, whose disk is gone already.
    func close()
}

/// What a service is made of beside its own parts.
struct ProcessGround {
    let life: Int
    let clock: ProcessClock
    let timers: Timers
    let group: CommitGroup
    let sender: SimulatedNetwork.Sender
}

/// A service behind its host, as the program has it, on a simulated disk and bus.
@ServiceLoop
final class HostedProcess<S: Service>: SimulatedProcess, ReplyPort {
    let life: Int
    let timers: Timers
    let sender: SimulatedNetwork.Sender
    let clock: ProcessClock
    private let group: CommitGroup
    private let news: (EventNotice) -> Void
    private let send: (UInt64, ReplyFrames) -> Void
    private var host: ServiceHost<S>?
    private let service: S

    /// Starts the service as its program does: outcomes recovered, memory rebuilt, then requests.
    ///
    /// - Parameters:
    ///   - news: what the service does with the authority's events.
    ///   - send: takes a reply and the number of the exchange that it answers.
    init(
        _ service: S, ground: ProcessGround, metrics: MetricsRegistry, peers: any PeerDirectory,
        news: @escaping (EventNotice) -> Void, send: @escaping (UInt64, ReplyFrames) -> Void
    ) throws {
        life = ground.life
        timers = ground.timers
        sender = ground.sender
        clock = ground.clock
        group = ground.group
        self.news = news
        self.send = send
        self.service = service
        let group = ground.group
        try group.write { try group.journal.recover(unfinished: service.unfinishedChanges()) }
        try group.store.commitBatch()
        try service.rebuild()
        host = ServiceHost(
            service, group: group, peers: peers, clock: ground.clock, port: self,
            metrics: metrics, version: "simulated")
    }

    func receive(_ exchange: SimulatedNetwork.Exchange) {
        let route = withUnsafeBytes(of: exchange.number) { Array($0) }
        host?.receive(
            route: route, peer: exchange.sender.peer, header: exchange.frames.header,
            content: .success(exchange.frames))
    }

    func hear(_ notice: EventNotice) { news(notice) }

    func endTurn() throws { try host?.endTurn() }

    func owners() throws -> [Owner] { try service.owners() }

    func send(_ reply: ReplyFrames, to route: [UInt8]) {
        send(route.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }, reply)
    }

    func close() {
        // Whoever waits for a commit waits no longer; nothing is written and nothing is sent.
        try? host?.endTurn()
        // The host has this process for its bus.
        host = nil
        group.store.abandonBatch()
        group.store.close()
    }
}

/// The machine's clock as one process sees it.
///
/// What is left of the work of one that has ended must not see the next boot, and must not wait for
/// ever: for it a second passes at every look.
final class ProcessClock: BootClock, @unchecked Sendable {
    // Safe to send: a simulation has one thread.
    private let machine: FakeBootClock
    private var end: BootMoment?

    init(_ machine: FakeBootClock) { self.machine = machine }

    var now: BootMoment {
        guard let last = end else { return machine.now }
        let next = BootMoment(bootID: last.bootID, nanoseconds: last.nanoseconds + 1_000_000_000)
        end = next
        return next
    }

    func stop() { end = end ?? machine.now }
}
