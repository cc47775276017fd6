import Clocks
import Loop
import Secrets
import TestKit
import Testing

@Suite struct HarnessRules {
    @Test func bodiesHaveTheLoopOneAfterTheOther() async throws {
        let log = try await withThrowingTaskGroup(of: [Int].self) { group in
            let shared = Log()
            for number in 0..<8 {
                group.addTask {
                    try await LoopHarness.run {
                        for _ in 0..<5 {
                            shared.entries.append(number)
                            await Task.yield()
                        }
                        return shared.entries
                    }
                }
            }
            return try await group.reduce([]) { $0.count > $1.count ? $0 : $1 }
        }
        #expect(log.count == 40)
        for start in stride(from: 0, to: 40, by: 5) {
            #expect(Set(log[start..<start + 5]).count == 1)
        }
    }

    @Test func anErrorComesOutAndTheNextBodyRuns() async throws {
        struct Expected: Error {}
        await #expect(throws: Expected.self) {
            try await LoopHarness.run { throw Expected() }
        }
        #expect(try await LoopHarness.run { 7 } == 7)
    }

    @Test func settlingRunsWhatWaitsAndWhatThatMakes() async throws {
        let seen = try await LoopHarness.run {
            let log = Log()
            Task { @ServiceLoop in
                log.entries.append(1)
                Task { @ServiceLoop in log.entries.append(2) }
            }
            await LoopHarness.settle()
            return log.entries
        }
        #expect(seen == [1, 2])
    }

    @Test func aDriverChoosesTheOrderOfJobs() async throws {
        let seen = try await LoopHarness.drive { queue in
            let log = ServiceLoop.assumeIsolated { Log() }
            for number in 0..<3 { Task { @ServiceLoop in log.entries.append(number) } }
            while queue.runOne(choosing: { $0 - 1 }) > 0 {}
            return ServiceLoop.assumeIsolated { log.entries }
        }
        #expect(seen == [2, 1, 0])
    }

    @Test func aSleeperWakesWhenTheClockIsTurned() async throws {
        let seen = try await LoopHarness.run {
            let clock = FakeBootClock()
            let timers = Timers(clock: clock)
            let log = Log()
            ServiceLoop.start {
                await timers.sleep(milliseconds: 10)
                log.entries.append(1)
            }
            await LoopHarness.settle()
            clock.advance(milliseconds: 9)
            timers.fire()
            await LoopHarness.settle()
            log.entries.append(0)
            clock.advance(milliseconds: 1)
            timers.fire()
            await LoopHarness.settle()
            return log.entries
        }
        #expect(seen == [0, 1])
    }

    @Test func aRebootChangesTheBootAndSetsTheClockBack() {
        let clock = FakeBootClock()
        let before = clock.now
        clock.reboot()
        #expect(clock.now.bootID != before.bootID)
        #expect(clock.now.nanoseconds < before.nanoseconds)
    }

    @Test func theSameSeedGivesTheSameBytes() {
        #expect(SeededRandom(seed: 3).bytes(21) == SeededRandom(seed: 3).bytes(21))
        #expect(SeededRandom(seed: 3).bytes(21) != SeededRandom(seed: 4).bytes(21))
    }
}

/// What happened, in order.
@ServiceLoop
private final class Log {
    var entries: [Int] = []
}
