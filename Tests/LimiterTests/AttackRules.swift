import Loop
import TestKit
import Testing

@Suite struct AttackRules {
    /// 10,000 sequences; a failing one is named by its seed.
    @Test func whoeverHoldsTheAuthoritysKeyGetsNoSeventhEvaluation() async throws {
        for group in 0..<400 as Range<UInt64> {
            try await LoopHarness.run {
                let rig = try LimiterRig(seed: group)
                for seed in group * 25..<group * 25 + 25 {
                    let run = try AttackRun(rig, seed: seed)
                    try run.run(steps: 24)
                    #expect(run.bound.violation == nil, "seed \(seed)")
                }
            }
        }
    }

    @Test(arguments: Breakage.allCases)
    func aBrokenRuleIsFound(_ breakage: Breakage) async throws {
        let found: EvaluationBound.Violation? = try await LoopHarness.run {
            let rig = try LimiterRig()
            for seed in 0..<1_000 as Range<UInt64> {
                let run = try AttackRun(rig, seed: seed, breakage: breakage)
                try run.run(steps: 60)
                if let violation = run.bound.violation { return violation }
            }
            return nil
        }
        #expect(found == breakage.finds)
    }

    @Test func theSequencesMeetEveryAnswer() async throws {
        let met = try await LoopHarness.run {
            let rig = try LimiterRig()
            var met: [String: Int] = [:]
            for seed in 0..<200 as Range<UInt64> {
                let run = try AttackRun(rig, seed: seed)
                try run.run(steps: 60)
                met.merge(run.met, uniquingKeysWith: +)
            }
            return met
        }
        let wanted = [
            "evaluated", "cooling down", "confirmed", "forgotten", "limiter.other_enrolment",
            "limiter.other_key", "limiter.bad_challenge", "limiter.bad_signature",
            "limiter.nonce_seen", "limiter.rolled_back", "limiter.no_such_attempt",
            "limiter.attempt_over", "limiter.nothing_to_repair",
        ]
        for event in wanted { #expect(met[event, default: 0] > 0, "\(event)") }
        #expect(met.keys.allSatisfy(wanted.contains), "\(met)")
    }
}
