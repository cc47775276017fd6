internal import Loop
internal import TestKit

/// One run: a machine, its people, what breaks, and what was promised.
public struct Simulation: Sendable {
    public let seed: UInt64
    public let workload: Workload

    /// What came of a run.
    public struct Result: Sendable, Equatable {
        /// Sentences about promises that were not kept; none in a good run.
        public let broken: [String]
        public let injected: Injected
        public let deeds: Deeds
        public let steps: Int
        public let acts: Int
        public let trace: UInt64
    }

    /// A run that does not come to its end within so many steps hangs.
    private static let stepLimit = 400_000

    /// Whether the disks only pretend to sync: a fault that the promises must notice.
    private let disksIgnoreSyncs: Bool

    public init(seed: UInt64, _ workload: Workload = .life, disksIgnoreSyncs: Bool = false) {
        self.seed = seed
        self.workload = workload
        self.disksIgnoreSyncs = disksIgnoreSyncs
    }

    /// Runs on the calling thread, which must have claimed the loop's queue.
    public func run() -> Result {
        ServiceLoop.assumeIsolated { runIsolated() }
    }

    @ServiceLoop
    private func runIsolated() -> Result {
        switch workload {
        case .life: live()
        case .credential: changeCredentials()
        }
    }

    @ServiceLoop
    private func live() -> Result {
        let draw = SeededRandom(seed: seed ^ 0xD1CE)
        let machine = SimulatedMachine(
            seed: seed, mishaps: Self.mishaps(draw), disksIgnoreSyncs: disksIgnoreSyncs)
        let people = Self.people(draw)
        let devices = people.flatMap { person in
            (1...2).map { Device($0, of: person, on: machine, seed: draw.next()) }
        }
        let acts = draw.number(in: 8...36)
        go(machine, devices) { await $0.live(acts: acts) }
        machine.calm()
        go(machine, devices) { await $0.audit() }
        go(machine, devices.filter(\.isFirst)) { await $0.auditStores() }
        return end(machine, acts: devices.reduce(0) { $0 + $1.acts })
    }

    @ServiceLoop
    private func changeCredentials() -> Result {
        guard let run = try? CredentialRun(seed: seed, disksIgnoreSyncs: disksIgnoreSyncs) else {
            preconditionFailure("a credential of the simulation is well-formed")
        }
        let (machine, devices) = (run.machine, run.devices)
        go(machine, devices) { await $0.live(acts: run.actsEach) }
        machine.calm()
        go(machine, devices) { await $0.audit() }
        go(machine, devices) { await $0.auditCredential() }
        go(machine, devices.filter(\.isFirst)) { await $0.auditStores() }
        return end(machine, acts: devices.reduce(0) { $0 + $1.acts })
    }

    @ServiceLoop
    private func end(_ machine: SimulatedMachine, acts: Int) -> Result {
        let trace = machine.trace
        machine.dissolve()
        return Result(
            broken: machine.promises.broken, injected: machine.injected, deeds: machine.deeds,
            steps: machine.steps, acts: acts, trace: trace)
    }

    /// One owner or two; some have legacy wallets, some keep a backup, and some a hardware token.
    @ServiceLoop
    private static func people(_ draw: SeededRandom) -> [Person] {
        let count = draw.number(in: 1...2)
        let migrates = draw.chance(percent: 35)
        let keepsShares = draw.chance(percent: 35)
        let haveTokens = draw.chance(percent: 35)
        return (1...count).map { number in
            Person(
                number: number, keychain: migrates ? try? LegacyHoard(draw) : nil,
                circle: keepsShares ? try? Circle() : nil, hasToken: haveTokens)
        }
    }

    /// Lets every client do something, until all have.
    @ServiceLoop
    private func go<C: Client>(
        _ machine: SimulatedMachine, _ clients: [C],
        _ body: @escaping @ServiceLoop (C) async -> Void
    ) {
        var left = clients.count
        for client in clients {
            ServiceLoop.start {
                await body(client)
                left -= 1
            }
        }
        go(machine) { left == 0 }
    }

    @ServiceLoop
    private func go(_ machine: SimulatedMachine, until isDone: () -> Bool) {
        let limit = machine.steps + Self.stepLimit
        while !isDone() {
            guard machine.steps < limit, machine.step() else {
                return machine.promises.fail("the run hangs: \(machine.standing)")
            }
        }
    }

    /// Swarm testing: each run has its own mixture of troubles.
    private static func mishaps(_ draw: SeededRandom) -> Mishaps {
        func often(_ values: [Int]) -> Int { draw.pick(values) ?? 0 }
        return Mishaps(
            perTenThousand: often([0, 5, 20, 60, 150]),
            killInCommitPerTenThousand: often([0, 20, 100, 400]),
            killAtMessagePerTenThousand: often([0, 0, 20, 100]),
            lostPerThousand: often([0, 2, 10, 40]), repeatedPerThousand: often([0, 2, 10, 40]),
            delayedPerThousand: often([0, 5, 20, 80]), latePerThousand: often([0, 5, 20, 80]),
            hastePercent: often([0, 1, 5]),
            kdfMilliseconds: UInt64(often([0, 20, 350])))
    }
}
