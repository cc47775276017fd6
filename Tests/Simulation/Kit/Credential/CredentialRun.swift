import Loop
import TestKit
import Wire

/// The short runs of one owner whose credential is changed all the time.
@ServiceLoop
struct CredentialRun {
    let machine: SimulatedMachine
    let devices: [CredentialDevice]
    let actsEach: Int

    init(seed: UInt64, disksIgnoreSyncs: Bool) throws {
        let draw = SeededRandom(seed: seed ^ 0xC4ED)
        // Only a removal needs the others.
        let services =
            draw.chance(percent: 20)
            ? SimulatedMachine.allServices : [.attemptLimiter, .credentialAuthority]
        let machine = SimulatedMachine(
            seed: seed, mishaps: Self.mishaps(draw), services: services,
            disksIgnoreSyncs: disksIgnoreSyncs)
        let keeper = try CredentialOwner(seed: draw.next())
        let count = draw.chance(percent: 60) ? 1 : 2
        self.machine = machine
        devices = (1...count).map { number in
            CredentialDevice(
                number, of: keeper, isAlone: count == 1, on: machine, seed: draw.next())
        }
        actsEach = draw.number(in: 4...8)
    }

    private static func mishaps(_ draw: SeededRandom) -> Mishaps {
        func often(_ values: [Int]) -> Int { draw.pick(values) ?? 0 }
        return Mishaps(
            perTenThousand: often([0, 0, 5, 20]),
            killInCommitPerTenThousand: often([0, 20]),
            killAtMessagePerTenThousand: often([0, 0, 50, 200]),
            lostPerThousand: often([0, 2, 10, 40]), repeatedPerThousand: often([0, 2, 10, 40]),
            delayedPerThousand: often([0, 5, 20, 80]), latePerThousand: often([0, 5, 20, 80]),
            hastePercent: often([0, 1, 5]), kdfMilliseconds: UInt64(often([0, 20, 350])),
            mutationsBrokenPercent: often([0, 30, 50, 70, 70]),
            killInCommitOfMutationPerTenThousand: often([0, 100, 500]))
    }
}
