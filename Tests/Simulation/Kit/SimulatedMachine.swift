import AuthorityClient
import AuthorityCore
import Clocks
import DiskDouble
import LimiterCore
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Tokens
import VaultCore
import Wire

/// A machine with the services on it, in one process and from one seed.
///
/// Real services run on the loop's real queue; what they meet from outside is simulated. Each step
/// one thing happens that can happen: a job runs, a message arrives, a turn ends, time passes, or
/// something breaks. Which one is drawn from the seed, so that a run repeats exactly.
@ServiceLoop
final class SimulatedMachine {
    static let services: [ServiceName] = [.attemptLimiter, .credentialAuthority, .walletVault]

    let choices: SeededRandom
    let clock = FakeBootClock()
    /// The clock of those who are elsewhere, which goes on through the machine's boots.
    private let outside = FakeBootClock()
    let network: SimulatedNetwork
    let promises: Promises
    var mishaps: Mishaps
    private(set) var injected = Injected()
    private(set) var steps = 0
    /// A digest of all that happened, to tell whether two runs are one.
    private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The sleepers of those who live on no service: clients.
    let timers: Timers
    private let random: SeededRandom
    private var disks: [ServiceName: TestDisk] = [:]
    private var running: [ServiceName: any SimulatedProcess] = [:]
    /// When those that are down start again.
    private var startsAt: [ServiceName: UInt64] = [:]
    /// What has happened since a service's last turn ended.
    private var unfinished: Set<ServiceName> = []
    private var endedTimers: [Timers] = []
    private var lives = 0
    private let directory = Directory()

    init(seed: UInt64, mishaps: Mishaps) {
        choices = SeededRandom(seed: seed)
        random = SeededRandom(seed: seed ^ 0x5EED_5EED)
        self.mishaps = mishaps
        let clock = clock
        timers = Timers(clock: outside)
        network = SimulatedNetwork { clock.now.nanoseconds }
        promises = Promises(clock: clock)
        for service in Self.services {
            disks[service] = TestDisk()
            startsAt[service] = 0
        }
    }

    // MARK: One step

    /// Lets one thing happen.
    ///
    /// - Returns: whether anything could.
    @discardableResult
    func step() -> Bool {
        steps += 1
        // Two things never happen in one nanosecond.
        advance(by: 1_000)
        if choices.number(in: 1...10_000) <= mishaps.perTenThousand { breakSomething() }
        var ways: [(weight: Int, Action)] = []
        if !ServiceLoop.queue.isEmpty { ways.append((60, .job)) }
        if !network.parcels.isEmpty { ways.append((30, .message)) }
        if !unfinished.isEmpty { ways.append((25, .turn)) }
        if ways.isEmpty || choices.chance(percent: mishaps.hastePercent) {
            ways.append((ways.isEmpty ? 1 : 10, .time))
        }
        switch draw(ways) {
        case .job: runJob()
        case .message: carry()
        case .turn: endTurn()
        case .time: return passTime()
        }
        return true
    }

    private enum Action {
        case job
        case message
        case turn
        case time
    }

    private func draw(_ ways: [(weight: Int, Action)]) -> Action {
        var left = choices.number(in: 1...ways.reduce(0) { $0 + $1.weight })
        for (weight, action) in ways {
            left -= weight
            if left <= 0 { return action }
        }
        return .time
    }

    private func note(_ what: UInt64) { trace = (trace ^ what) &* 0x0000_0100_0000_01B3 }

    private func runJob() {
        let choices = choices
        let count = ServiceLoop.queue.runOne { count in choices.number(in: 0...count - 1) }
        note(0x100 + UInt64(count))
        unfinished.formUnion(running.keys)
    }

    private func endTurn() {
        guard let service = choices.pick(unfinished.sorted { $0.text < $1.text }) else { return }
        note(0x200 + UInt64(Self.services.firstIndex(of: service) ?? 9))
        unfinished.remove(service)
        guard let process = running[service], let disk = disks[service] else { return }
        if choices.number(in: 1...10_000) <= mishaps.killInCommitPerTenThousand {
            disk.killAfter = choices.number(in: 0...12)
        }
        do { try process.endTurn() } catch { return kill(service, \.diskEndings) }
        guard let left = disk.killAfter else { return }
        disk.killAfter = nil
        // The kill lands in the commit only where the commit came so far.
        if left == 0 { kill(service, \.killsInCommit) }
    }

    // MARK: Messages

    private func carry() {
        let index = choices.number(in: 0...network.parcels.count - 1)
        let parcel = network.take(at: index)
        note(0x300 + UInt64(index))
        if choices.number(in: 1...1_000) <= mishaps.lostPerThousand {
            injected.lost += 1
            return lose(parcel)
        }
        if choices.number(in: 1...1_000) <= mishaps.repeatedPerThousand {
            injected.repeated += 1
            network.post(parcel)
        }
        switch parcel {
        case .request(let exchange): deliver(exchange)
        case .reply(let exchange, let frames):
            network.finish(
                exchange, exchange.sender.isDead ? .failure(.lost) : .success(frames))
        case .news(let notice, let service):
            running[service]?.hear(notice)
            unfinished.insert(service)
        }
    }

    /// A request or its answer vanishes; who asked waits in vain.
    ///
    /// Of lost news the subscriber's connection tells nothing: the numbers have a gap.
    private func lose(_ parcel: SimulatedNetwork.Parcel) {
        guard case .request(let exchange) = parcel else { return }
        if choices.chance(percent: 30) { network.finish(exchange, .failure(.lost)) }
    }

    private func deliver(_ exchange: SimulatedNetwork.Exchange) {
        guard let process = running[exchange.service] else {
            return network.finish(
                exchange, .failure(exchange.takenBy == nil ? .unreachable : .lost))
        }
        exchange.takenBy = process.life
        exchange.takenAt = clock.now
        promises.watchArrival(exchange)
        process.receive(exchange)
        unfinished.insert(exchange.service)
    }

    // MARK: Time

    private func advance(by nanoseconds: UInt64) {
        clock.advance(nanoseconds: nanoseconds)
        outside.advance(nanoseconds: nanoseconds)
    }

    /// Lets as much time pass as until the next one wants to be woken.
    private func passTime() -> Bool {
        let here = running.values.map { $0.timers.nextDeadline } + [network.nextDeadline]
        let now = clock.now.nanoseconds
        var waits = (here.compactMap { $0 } + startsAt.values).map { $0 > now ? $0 - now : 0 }
        if let next = timers.nextDeadline {
            let moment = outside.now.nanoseconds
            waits.append(next > moment ? next - moment : 0)
        }
        guard let shortest = waits.min() else { return !ServiceLoop.queue.isEmpty }
        advance(by: shortest)
        note(0x400)
        wake()
        return true
    }

    private func wake() {
        let now = clock.now.nanoseconds
        timers.fire()
        for service in Self.services { running[service]?.timers.fire() }
        for ended in endedTimers { ended.fire() }
        network.expire()
        for service in Self.services where (startsAt[service] ?? .max) <= now { start(service) }
    }

    // MARK: Starting and ending

    private func start(_ service: ServiceName) {
        startsAt[service] = nil
        lives += 1
        note(0x500)
        do {
            running[service] = try make(service)
        } catch {
            // A disk that is full or fails lets nobody start; it is tried again.
            injected.failedStarts += 1
            // Somebody makes room in the end.
            if choices.chance(percent: 30) { disks[service]?.fault = nil }
            startsAt[service] = clock.now.nanoseconds + 500_000_000
        }
        guard running[service] != nil else { return }
        if service == .credentialAuthority { network.post(.news(.connected, to: .walletVault)) }
        if service == .walletVault, running[.credentialAuthority] != nil {
            network.post(.news(.connected, to: .walletVault))
        }
    }

    private func make(_ service: ServiceName) throws -> any SimulatedProcess {
        guard let disk = disks[service] else { preconditionFailure("every service has a disk") }
        let timers = Timers(clock: clock)
        let sender = SimulatedNetwork.Sender(peer: Directory.key(of: service))
        let metrics = MetricsRegistry()
        switch service {
        case .attemptLimiter:
            let ground = try ground(LimiterService.schema, disk, timers, sender)
            let limiter = LimiterService(
                group: ground.group, clock: ground.clock, random: random, metrics: metrics)
            return try hosted(limiter, ground, metrics)
        case .credentialAuthority:
            let ground = try ground(AuthorityService.schema, disk, timers, sender)
            let authority = try AuthorityService(
                AuthorityParts(
                    group: ground.group, clock: ground.clock, awake: clock,
                    wallClock: StillWallClock(),
                    timers: timers, random: random,
                    limiter: client(sender, .attemptLimiter),
                    kdf: CheapKDF(timers: timers, milliseconds: mishaps.kdfMilliseconds),
                    events: EventsOut { [weak self, sender] bytes in
                        guard !sender.isDead else { return }
                        self?.network.post(.news(.event(bytes), to: .walletVault))
                    },
                    metrics: metrics))
            authority.startHeartbeat()
            return try hosted(authority, ground, metrics)
        default:
            let ground = try ground(VaultService.schema, disk, timers, sender)
            let link = AuthorityLink(
                service: .walletVault, domains: VaultService.keyDomains,
                authority: client(sender, .credentialAuthority), clock: ground.clock,
                timers: timers)
            let vault = VaultService(
                group: ground.group, link: link, clock: ground.clock, random: random,
                stretcher: StretcherOnTheLoop())
            return try hosted(vault, ground, metrics) { link.hear($0) }
        }
    }

    private func ground(
        _ schema: Schema, _ disk: TestDisk, _ timers: Timers, _ sender: SimulatedNetwork.Sender
    ) throws -> ProcessGround {
        let store = try Database(path: "store.sqlite", schema: schema, vfs: disk.name)
        let clock = ProcessClock(clock)
        return ProcessGround(
            life: lives, clock: clock, timers: timers,
            group: CommitGroup(store: store, clock: clock), sender: sender)
    }

    private func hosted<S: Service>(
        _ service: S, _ ground: ProcessGround, _ metrics: MetricsRegistry,
        news: @escaping (EventNotice) -> Void = { _ in }
    ) throws -> any SimulatedProcess {
        let sender = ground.sender
        return try HostedProcess(
            service, ground: ground, metrics: metrics, peers: directory, news: news
        ) { [weak self] number, reply in
            guard let self, !sender.isDead, let exchange = self.network.exchange(number) else {
                return
            }
            self.promises.watch(exchange, reply)
            self.network.post(.reply(exchange, reply))
        }
    }

    private func client(
        _ sender: SimulatedNetwork.Sender, _ service: ServiceName
    ) -> ServiceClient {
        ServiceClient(port: SimulatedWay(network, from: sender, to: service))
    }

    /// A client's way to a service; clients outlive the machine's boots.
    func way(from sender: SimulatedNetwork.Sender, to service: ServiceName) -> ServiceClient {
        client(sender, service)
    }

    // MARK: What breaks

    private func breakSomething() {
        let service = choices.pick(Self.services) ?? .walletVault
        switch choices.number(in: 1...100) {
        case 1...55: if running[service] != nil { kill(service, \.kills) }
        case 56...70: boot()
        case 71...85: sleep()
        default: failDisk(of: service)
        }
    }

    /// Ends a process; what it has written stays.
    private func kill(_ service: ServiceName, _ counter: WritableKeyPath<Injected, Int>) {
        guard let process = running.removeValue(forKey: service) else { return }
        injected[keyPath: counter] += 1
        note(0x600)
        end(process, service) { true }
        let pause = UInt64(choices.number(in: 1...2_000)) * 1_000_000
        startsAt[service] = clock.now.nanoseconds + pause
    }

    private func end(
        _ process: any SimulatedProcess, _ service: ServiceName, keep: () -> Bool
    ) {
        process.sender.isDead = true
        process.clock.stop()
        // The disk goes first, so that closing the store writes nothing.
        let old = disks[service]
        let fault = old?.fault
        disks[service] = old?.kill(keep: keep)
        disks[service]?.fault = fault
        process.close()
        old?.retire()
        endedTimers.append(process.timers)
        unfinished.remove(service)
        network.breakOff { $0.sender === process.sender || $0.takenBy == process.life }
        promises.ended(service)
        if service == .credentialAuthority {
            network.post(.news(.disconnected, to: .walletVault))
        }
    }

    /// The power fails: of what was not synced some sectors reach the platter and some do not.
    private func boot() {
        injected.boots += 1
        note(0x700)
        for service in Self.services {
            if let process = running.removeValue(forKey: service) {
                end(process, service) { choices.chance(percent: 50) }
                injected.tornDisks += 1
            }
        }
        clock.reboot()
        let now = clock.now.nanoseconds
        for service in Self.services {
            startsAt[service] = now + UInt64(choices.number(in: 0...3_000)) * 1_000_000
        }
        // Nobody's deadline is of this boot, and nothing is on its way any more.
        network.breakOff { _ in true }
        network.clear()
    }

    /// The machine sleeps; its boot clock goes on.
    private func sleep() {
        injected.sleeps += 1
        note(0x800)
        advance(by: UInt64(choices.number(in: 1...400_000)) * 1_000_000)
        wake()
    }

    private func failDisk(of service: ServiceName) {
        note(0x900)
        injected.diskFaults += 1
        disks[service]?.fault =
            switch choices.number(in: 1...3) {
            case 1: .full(after: choices.number(in: 0...6), stays: choices.chance(percent: 50))
            case 2: .failedWrite(after: choices.number(in: 0...6))
            default: .failedSync(after: choices.number(in: 0...3))
            }
    }

    // MARK: The end

    /// How everything stands, for a run that does not go on.
    var standing: String {
        let up = running.keys.map(\.text).sorted().joined(separator: ", ")
        return "up \(up); \(network.parcels.count) messages; "
            + "next wake \(timers.nextDeadline ?? 0), next end of patience "
            + "\(network.nextDeadline ?? 0), now \(clock.now.nanoseconds), "
            + "outside \(outside.now.nanoseconds)"
    }

    /// From now on nothing breaks, and what is broken is mended.
    func calm() {
        mishaps = .none
        for service in Self.services {
            disks[service]?.fault = nil
            if running[service] == nil { startsAt[service] = clock.now.nanoseconds }
        }
    }

    /// Ends everything, so that no task of this run waits any longer.
    func dissolve() {
        for service in Self.services {
            guard let process = running.removeValue(forKey: service) else { continue }
            end(process, service) { true }
        }
        for disk in disks.values { disk.retire() }
        network.breakOff { _ in true }
        for _ in 0..<1_000 {
            advance(by: 1_000_000_000_000_000)
            timers.fire()
            for ended in endedTimers { ended.fire() }
            network.breakOff { _ in true }
            if ServiceLoop.queue.runWaiting() == 0 { return }
        }
    }
}
