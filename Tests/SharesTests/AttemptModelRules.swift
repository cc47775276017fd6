import AuthorityDouble
import Loop
import Mnemonics
import Secrets
import Serving
import SharesMessages
import TestKit
import Testing
import VaultMessages
import Wire

@testable import SharesCore

/// Random restorations in all weathers, with both services killed at random: in the end every key
/// has an outcome, and the vault holds exactly the wallets of those that are done.
@Suite(.timeLimit(.minutes(3)))
struct AttemptModelRules {
    @Test(arguments: UInt64(1)...24) func outcomesAreTrue(_ seed: UInt64) async throws {
        try await LoopHarness.run {
            let run = try await ModelRun(seed)
            for _ in 0..<30 { try await run.step() }
            try await run.check()
        }
    }
}

@ServiceLoop
private final class ModelRun {
    private let rig: Rig
    private let random: SeededRandom
    private var jobs: [Job] = []
    /// The keys of each job.
    private var keys: [[IdempotencyKey]] = []
    private var sent: [UInt64] = []

    init(_ seed: UInt64) async throws {
        rig = try Rig(seed: seed)
        random = SeededRandom(seed: seed &* 31)
        for _ in 0..<3 {
            let phrase = try Mnemonic.generate(words: 12, random: random)
            let text = phrase.withBytes { String(decoding: $0, as: UTF8.self) }
            jobs.append(try await Job(rig, text))
            keys.append([])
        }
    }

    func step() async throws {
        switch random.number(in: 0...9) {
        case 0...3: try attempt()
        case 4:
            let weathers: [VaultHouse.Weather] = [
                .fair, .fair, .outage, .lostAnswer, .lostRequest, .held,
            ]
            for method in [ImportWallet.method, AskOutcome<Vault>.method] {
                rig.vault.weather[method] = random.pick(weathers)
            }
        case 5: try rig.restart()
        case 6:
            try rig.vault.restart()
            rig.authority.publish()
        case 7:
            if let key = random.pick(keys.joined()) {
                _ = rig.send(AskOutcome<Shares>(key: key))
            }
        default: rig.vault.letThrough()
        }
        try await rig.turns(random.number(in: 0...6))
    }

    /// A new attempt, or a repeat of an earlier one.
    private func attempt() throws {
        let number = random.number(in: 0...(jobs.count - 1))
        let isRepeat = random.chance(percent: 40)
        let key = (isRepeat ? random.pick(keys[number]) : nil) ?? rig.newKey()
        if !keys[number].contains(key) { keys[number].append(key) }
        sent.append(try jobs[number].send(key))
    }

    /// Lets everything come to its end in fair weather, and compares.
    func check() async throws {
        rig.vault.weather = [:]
        for _ in 0..<3 {
            rig.vault.letThrough()
            try await rig.finish()
        }
        let wallets = try await rig.wallets()
        for (job, keys) in zip(jobs, keys) {
            var done = 0
            for key in keys {
                let status = try await rig.outcome(of: key).status
                #expect(status != .inFlight)
                done += status == .done ? 1 : 0
            }
            let count = wallets.count { $0.identity == job.wallet.identity }
            #expect(count <= 1)
            #expect((done > 0) == (count == 1), "\(done) done, \(count) in the vault")
            let isOpen = try await rig.restorations().contains(job.restoration)
            #expect(isOpen == (count == 0))
        }
        let after = try await rig.wallets()
        #expect(after.map(\.wallet) == wallets.map(\.wallet))
    }
}
