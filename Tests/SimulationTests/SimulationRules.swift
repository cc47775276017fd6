import Loop
import Simulation
import TestKit
import Testing

@Suite struct SimulationRules {
    @Test func everyPromiseHoldsWhateverBreaks() async throws {
        let results = try await LoopHarness.drive { _ in
            (1...40).map { Simulation(seed: $0).run() }
        }
        var report = SimulationReport(of: 1...40)
        for (seed, result) in zip(UInt64(1)..., results) {
            report.add(result, of: seed)
            #expect(result.broken == [], "deploy/simulate --seeds \(seed)..\(seed)")
        }
        print(report.lines(milliseconds: 0).joined(separator: "\n"))
        let missing = Trouble.allCases.filter { trouble in
            results.allSatisfy { $0.injected[trouble] == 0 }
        }
        #expect(missing == [], "nothing of these was injected")
        var deeds = Deeds()
        for result in results { deeds.add(result.deeds) }
        #expect(deeds[.wallet] > 20 && deeds[.migration] > 5)
    }

    @Test func oneSeedIsOneRun() async throws {
        let seeds: ClosedRange<UInt64> = 7...9
        let results = try await LoopHarness.drive { _ in
            (1...2).map { _ in seeds.map { Simulation(seed: $0).run() } }
        }
        #expect(results[0] == results[1])
    }

    /// A control: promises that cannot be broken check nothing.
    @Test func disksThatDoNotSyncAreNoticed() async throws {
        let broken = try await LoopHarness.drive { _ in
            (1...40).contains { seed in
                !Simulation(seed: seed, disksIgnoreSyncs: true).run().broken.isEmpty
            }
        }
        #expect(broken)
    }

    @Test func theCommandLineIsRead() {
        let request = SimulateRequest([
            "--seeds", "3..9", "--minutes", "60", "--json", "report", "--until-broken",
        ])
        #expect(request?.seeds == 3...9)
        #expect(request?.minutes == 60)
        #expect(request?.reportPath == "report")
        #expect(request?.endsAtFirst == true)
        for wrong in [[], ["--seeds"], ["--seeds", "9..3"], ["--seeds", "1..2", "--minutes"]] {
            #expect(SimulateRequest(wrong) == nil)
        }
    }
}
