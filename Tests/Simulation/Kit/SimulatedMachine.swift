import Clocks
import DiskDouble
import Loop
import Serving
import TestKit
import Wire

/// A machine with the services on it, in one process and from one seed.
///
/// Real services run on the loop's real queue; what they meet from outside is simulated. Each step
/// one thing happens that can happen: a job runs, a message arrives, a turn ends, time passes, or
/// something breaks. Which one is drawn from the seed, so that a run repeats exactly.
@ServiceLoop
final class SimulatedMachine {
    static let allServices: [ServiceName] = [
        .attemptLimiter, .credentialAuthority, .walletVault, .backupShares, .migration,
    ]

    /// Those that are on it.
    let services: [ServiceName]
    /// Those that hear the authority's events.
    private let subscribers: [ServiceName]

    let choices: SeededRandom
    let clock = FakeBootClock()
    let wallClock: JumpingWallClock
    /// The clock of those who are elsewhere, which goes on through the machine's boots.
    private let outside = FakeBootClock()
    let network: SimulatedNetwork
    let promises: Promises
    var mishaps: Mishaps
    var injected = Injected()
    var deeds = Deeds()
    private(set) var steps = 0
    /// A digest of all that happened, to tell whether two runs are one.
    private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The sleepers of those who live on no service: clients.
    let timers: Timers
    let random: SeededRandom
    let tokens: SimulatedTokens
    private(set) var disks: [ServiceName: TestDisk] = [:]
    private let disksIgnoreSyncs: Bool
    private var running: [ServiceName: any SimulatedProcess] = [:]
    /// When those that are down start again.
    private var startsAt: [ServiceName: UInt64] = [:]
    /// What has happened since a service's last turn ended.
    private var unfinished: Set<ServiceName> = []
    /// The turns that end late, and when.
    private var late: [ServiceName: UInt64] = [:]
    private var endedTimers: [Timers] = []
    private(set) var lives = 0
    let directory = Directory()
    /// How many changes of a credential are under way.
    private var mutations = 0
    /// At which step something breaks inside one.
    private var breaksAt: Int?

    init(
        seed: UInt64, mishaps: Mishaps, services: [ServiceName] = allServices,
        disksIgnoreSyncs: Bool = false
    ) {
        self.services = services
        subscribers = [.walletVault, .backupShares, .migration].filter { services.contains($0) }
        self.disksIgnoreSyncs = disksIgnoreSyncs
        choices = SeededRandom(seed: seed)
        random = SeededRandom(seed: seed ^ 0x5EED_5EED)
        self.mishaps = mishaps
        wallClock = JumpingWallClock(seed: seed ^ 0xCA1E_DA12)
        tokens = SimulatedTokens(seed: seed ^ 0x70_0CE5)
        let clock = clock
        timers = Timers(clock: outside)
        network = SimulatedNetwork { clock.now.nanoseconds }
        promises = Promises(clock: clock)
        for service in services {
            use(TestDisk(), for: service)
            startsAt[service] = 0
        }
        promises.step = { [weak self] in self?.steps ?? 0 }
        promises.has = { [weak self] in self?.has($0, $1) }
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
        if let moment = breaksAt, steps >= moment { breakMutation() }
        var ways: [(weight: Int, Action)] = []
        if !ServiceLoop.queue.isEmpty { ways.append((60, .job)) }
        if !network.parcels.isEmpty { ways.append((30, .message)) }
        if !endable.isEmpty { ways.append((25, .turn)) }
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
        guard let service = choices.pick(endable) else { return }
        note(0x200 + UInt64(services.firstIndex(of: service) ?? 9))
        if late[service] == nil, choices.number(in: 1...1_000) <= mishaps.latePerThousand {
            injected[.lateTurn] += 1
            let pause = UInt64(choices.number(in: 1...400)) * 1_000_000
            late[service] = clock.now.nanoseconds + pause
            return
        }
        unfinished.remove(service)
        late[service] = nil
        guard let process = running[service], let disk = disks[service] else { return }
        let often = mutations > 0 ? mishaps.killInCommitOfMutationPerTenThousand : 0
        if choices.number(in: 1...10_000) <= mishaps.killInCommitPerTenThousand + often {
            disk.killAfter = choices.number(in: 0...12)
        }
        do { try process.endTurn() } catch { return kill(service, .endByDisk) }
        guard let left = disk.killAfter else { return }
        disk.killAfter = nil
        // The kill lands in the commit only where the commit came so far.
        if left == 0 { kill(service, .killInCommit) }
    }

    /// The running services whose turn may end now.
    ///
    /// News may have come for one that has ended; it has no turn to end.
    private var endable: [ServiceName] {
        guard !unfinished.isEmpty else { return [] }
        let now = clock.now.nanoseconds
        return services.filter {
            running[$0] != nil && unfinished.contains($0) && (late[$0] ?? 0) <= now
        }
    }

    // MARK: Messages

    private func carry() {
        let index = choices.number(in: 0...network.parcels.count - 1)
        let parcel = network.take(at: index)
        note(0x300 + UInt64(index))
        if index > 0 { injected[.reordered] += 1 }
        if choices.number(in: 1...1_000) <= mishaps.lostPerThousand {
            injected[.lost] += 1
            return lose(parcel)
        }
        if choices.number(in: 1...1_000) <= mishaps.repeatedPerThousand {
            injected[.repeated] += 1
            network.post(parcel)
        }
        if choices.number(in: 1...1_000) <= mishaps.delayedPerThousand {
            injected[.delayed] += 1
            let pause = UInt64(choices.number(in: 1...3_000)) * 1_000_000
            return network.hold(parcel, until: clock.now.nanoseconds + pause)
        }
        let isFatal = choices.number(in: 1...10_000) <= mishaps.killAtMessagePerTenThousand
        if isFatal, choices.chance(percent: 50) { killAround(parcel) }
        arrive(parcel)
        if isFatal { killAround(parcel) }
    }

    private func arrive(_ parcel: SimulatedNetwork.Parcel) {
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

    /// Kills the service that a message came from or went to.
    private func killAround(_ parcel: SimulatedNetwork.Parcel) {
        var ends: [ServiceName] = []
        switch parcel {
        case .request(let exchange), .reply(let exchange, _):
            ends.append(exchange.service)
            if let asking = directory.service(of: exchange.sender.peer) { ends.append(asking) }
        case .news(_, let service): ends.append(service)
        }
        if let service = choices.pick(ends) { kill(service, .killAtMessage) }
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
        // A second copy of a request changes nothing of what the first one did.
        if exchange.takenBy != process.life { exchange.takenAt = clock.now }
        exchange.takenBy = process.life
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
        let moments = here.compactMap { $0 } + Array(startsAt.values) + Array(late.values)
        var waits = moments.map { $0 > now ? $0 - now : 0 }
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
        for service in services { running[service]?.timers.fire() }
        for ended in endedTimers { ended.fire() }
        network.expire()
        network.release()
        for service in services where (startsAt[service] ?? .max) <= now { start(service) }
    }

    // MARK: Starting and ending

    private func start(_ service: ServiceName) {
        startsAt[service] = nil
        lives += 1
        note(0x500)
        do {
            running[service] = try make(service, on: disks[service] ?? TestDisk())
        } catch {
            // A disk that is full or fails lets nobody start; it is tried again.
            injected[.failedStart] += 1
            // Somebody makes room in the end.
            if choices.chance(percent: 30) { disks[service]?.fault = nil }
            startsAt[service] = clock.now.nanoseconds + 500_000_000
        }
        guard running[service] != nil else { return }
        if service == .credentialAuthority { publish(.connected) }
        if subscribers.contains(service), running[.credentialAuthority] != nil {
            network.post(.news(.connected, to: service))
        }
    }

    /// Sends news to whoever hears the authority's events.
    func publish(_ notice: EventNotice) {
        for service in subscribers { network.post(.news(notice, to: service)) }
    }

    private func use(_ disk: TestDisk, for service: ServiceName) {
        disk.ignoresSyncs = disksIgnoreSyncs
        disks[service] = disk
    }

    // MARK: What breaks

    private func breakSomething() {
        let service = choices.pick(services) ?? .walletVault
        switch choices.number(in: 1...100) {
        case 1...45: if running[service] != nil { kill(service, .killInStep) }
        case 46...58: boot()
        case 59...70: sleep()
        default: failDisk(of: service)
        }
    }

    /// Ends a process; what it has written stays.
    func kill(_ service: ServiceName, _ trouble: Trouble) {
        guard let process = running.removeValue(forKey: service) else { return }
        injected[trouble] += 1
        note(0x600)
        noteMutation(service)
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
        if let next = old?.kill(keep: keep) { use(next, for: service) }
        disks[service]?.fault = fault
        process.close()
        if let old { count(old) }
        old?.retire()
        endedTimers.append(process.timers)
        unfinished.remove(service)
        late[service] = nil
        // What it had sent may still arrive, though it is gone.
        let sent = network.answered
        network.breakOff { exchange in
            if exchange.sender === process.sender { return true }
            guard exchange.takenBy == process.life else { return false }
            return !sent.contains(exchange.number) || choices.chance(percent: 50)
        }
        promises.ended(service)
        if service == .credentialAuthority { publish(.disconnected) }
    }

    /// Adds what a disk did wrong to what was injected.
    private func count(_ disk: TestDisk) {
        injected[.fullDisk] += disk.failures.fullWrites
        injected[.failedWrite] += disk.failures.failedWrites
        injected[.failedSync] += disk.failures.failedSyncs
        injected[.lostSector] += disk.failures.lostSectors
    }

    /// The power fails: of what was not synced some sectors reach the platter and some do not.
    private func boot() {
        injected[.boot] += 1
        note(0x700)
        noteMutation(.credentialAuthority)
        for service in services {
            if let process = running.removeValue(forKey: service) {
                end(process, service) { choices.chance(percent: 50) }
            }
        }
        clock.reboot()
        let now = clock.now.nanoseconds
        for service in services {
            startsAt[service] = now + UInt64(choices.number(in: 0...3_000)) * 1_000_000
        }
        // Nobody's deadline is of this boot, and nothing is on its way any more.
        network.breakOff { _ in true }
        network.clear()
    }

    /// Stores are lost with the power, as where a machine is installed anew.
    func lose(_ lost: [ServiceName]) {
        boot()
        injected[.lostStore] += lost.count
        for service in lost {
            if let old = disks[service] {
                count(old)
                old.retire()
            }
            use(TestDisk(), for: service)
        }
        if lost.contains(.attemptLimiter) { promises.forgetTries() }
    }

    /// The machine sleeps, for up to some seconds; its boot clock goes on.
    func sleep(upTo seconds: Int = 400) {
        injected[.sleep] += 1
        sleep(exactly: UInt64(choices.number(in: 1...seconds)))
    }

    func sleep(exactly seconds: UInt64) {
        note(0x800)
        clock.sleepMachine(seconds: seconds)
        outside.advance(seconds: seconds)
        wake()
    }

    private func failDisk(of service: ServiceName) {
        note(0x900)
        disks[service]?.fault =
            switch choices.number(in: 1...3) {
            case 1: .full(after: choices.number(in: 0...6), stays: choices.chance(percent: 50))
            case 2: .failedWrite(after: choices.number(in: 0...6))
            default: .failedSync(after: choices.number(in: 0...3))
            }
    }

    // MARK: Changes of a credential

    /// A change begins; something may break in its midst.
    func beginMutation() {
        mutations += 1
        guard mishaps.mutationsBrokenPercent > 0,
            choices.chance(percent: mishaps.mutationsBrokenPercent)
        else { return }
        breaksAt = steps + choices.number(in: 1...Mishaps.mutationSteps)
    }

    func endMutation() { mutations -= 1 }

    private func breakMutation() {
        breaksAt = nil
        guard mutations > 0 else { return }
        switch choices.number(in: 1...100) {
        case 1...50: kill(.credentialAuthority, .killInStep)
        case 51...65: kill(.attemptLimiter, .killInStep)
        case 66...75: kill(choices.pick(services) ?? .credentialAuthority, .killInStep)
        case 76...88: boot()
        case 89...92: sleep()
        default: failDisk(of: choices.chance(percent: 70) ? .credentialAuthority : .attemptLimiter)
        }
    }

    private func noteMutation(_ service: ServiceName) {
        guard mutations > 0, [.credentialAuthority, .attemptLimiter].contains(service) else {
            return
        }
        injected[.killInMutation] += 1
    }

    // MARK: The end

    /// Whether a service that runs has anything of an owner; nil where it does not run.
    func has(_ owner: Owner, _ service: ServiceName) -> Bool? {
        guard let owners = try? running[service]?.owners() else { return nil }
        return owners.contains(owner)
    }

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
        breaksAt = nil
        tokens.calm()
        for service in services {
            disks[service]?.fault = nil
            if running[service] == nil { startsAt[service] = clock.now.nanoseconds }
        }
    }

    /// Ends everything, so that no task of this run waits any longer.
    func dissolve() {
        for service in services {
            guard let process = running.removeValue(forKey: service) else { continue }
            end(process, service) { true }
        }
        injected.add(tokens.injected)
        injected[.wallClockJump] += wallClock.jumps
        for disk in disks.values {
            count(disk)
            disk.retire()
        }
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
