import Loop
import Simulation
import TestKit
import Testing

@Suite struct SimulationRules {
    @Test func everyPromiseHoldsWhateverBreaks() async throws {
        let results = try await LoopHarness.drive { _ in
            (1...60).map { Simulation(seed: $0).run() }
        }
        var injected = Injected()
        for (seed, result) in zip(1..., results) {
            injected.add(result.injected)
            #expect(result.broken == [], "deploy/simulate --seeds \(seed)..\(seed)")
        }
        print(injected.lines.joined(separator: "\n"))
        #expect(injected.kills > 20 && injected.boots > 5 && injected.lost > 20)
    }

    @Test func oneSeedIsOneRun() async throws {
        let results = try await LoopHarness.drive { _ in
            (1...2).map { _ in Simulation(seed: 7).run() }
        }
        #expect(results[0] == results[1])
    }
}
