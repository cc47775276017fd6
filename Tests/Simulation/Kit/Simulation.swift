internal import Loop
internal import TestKit

/// One run: a machine, its people, what breaks, and what was promised.
public struct Simulation: Sendable {
    public let seed: UInt64

    /// What came of a run.
    public struct Result: Sendable, Equatable {
        /// Sentences about promises that were not kept; none in a good run.
        public let broken: [String]
        public let injected: Injected
        public let steps: Int
        public let acts: Int
        public let trace: UInt64
    }

    /// A run that does not come to its end within so many steps hangs.
    private static let stepLimit = 400_000

    public init(seed: UInt64) { self.seed = seed }

    /// Runs on the calling thread, which must have claimed the loop's queue.
    public func run() -> Result {
        ServiceLoop.assumeIsolated { runIsolated() }
    }

    @ServiceLoop
    private func runIsolated() -> Result {
        let draw = SeededRandom(seed: seed ^ 0xD1CE)
        let machine = SimulatedMachine(seed: seed, mishaps: Self.mishaps(draw))
        let people = (1...draw.number(in: 1...2)).map { Person(number: $0) }
        let devices = people.flatMap { person in
            (1...2).map { Device($0, of: person, on: machine, seed: draw.next()) }
        }
        let acts = draw.number(in: 8...30)
        var left = devices.count
        for device in devices {
            ServiceLoop.start {
                await device.live(acts: acts)
                left -= 1
            }
        }
        go(machine) { left == 0 }
        machine.calm()
        audit(machine, devices)
        let result = Result(
            broken: machine.promises.broken, injected: machine.injected, steps: machine.steps,
            acts: devices.reduce(0) { $0 + $1.acts }, trace: machine.trace)
        machine.dissolve()
        return result
    }

    @ServiceLoop
    private func audit(_ machine: SimulatedMachine, _ devices: [Device]) {
        var left = devices.count
        for device in devices {
            ServiceLoop.start {
                await device.audit()
                left -= 1
            }
        }
        go(machine) { left == 0 }
        left = devices.count / 2
        for device in devices where device.isFirst {
            ServiceLoop.start {
                await device.auditStores()
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
            lostPerThousand: often([0, 2, 10, 40]), repeatedPerThousand: often([0, 2, 10, 40]),
            hastePercent: often([0, 1, 5]),
            kdfMilliseconds: UInt64(often([0, 20, 350])))
    }
}
