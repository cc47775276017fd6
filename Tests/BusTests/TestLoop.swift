import Clocks
import Loop
import Synchronization
import TestKit
import Testing

@testable import Bus

/// Has a bus loop run on the loop's thread for as long as a test takes.
struct BusLoopTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let begun = AsyncStream.makeStream(of: Void.self)
        async let driving: Void = LoopHarness.drive { _ in
            let clock = try #require(SystemBootClock())
            TestLoop.shared.drive(try BusLoop.claim(clock: clock)) { begun.continuation.finish() }
        }
        for await _ in begun.stream {}
        let result: Result<Void, any Error>
        do { result = .success(try await function()) } catch { result = .failure(error) }
        TestLoop.shared.end()
        try await driving
        try result.get()
    }
}

extension Trait where Self == BusLoopTrait {
    static var busLoop: Self { BusLoopTrait() }
}

/// The bus loop of the test that runs.
final class TestLoop: Sendable {
    static let shared = TestLoop()

    private let running = Mutex<BusLoop?>(nil)
    private let runs = Atomic(0)

    /// The loop, which runs, and runs again when it is stopped.
    static var current: BusLoop {
        get throws { try #require(shared.running.withLock { $0 }) }
    }

    /// How often loops ran in this process.
    static var runs: Int { shared.runs.load(ordering: .sequentiallyConsistent) }

    fileprivate func drive(_ loop: BusLoop, begun: () -> Void) {
        running.withLock { $0 = loop }
        begun()
        while running.withLock({ $0 }) != nil {
            runs.add(1, ordering: .sequentiallyConsistent)
            loop.run()
        }
    }

    fileprivate func end() {
        let loop = running.withLock { running in
            defer { running = nil }
            return running
        }
        loop?.stop()
    }
}

/// Starts work on the loop, as a service does.
func onLoop<T: Sendable>(
    _ work: @escaping @ServiceLoop @Sendable () async throws -> T
) -> Task<T, any Error> {
    Task(executorPreference: ServiceLoop.queue, operation: work)
}

/// Runs blocking code on a thread of its own.
func onThread<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
        let thread = try? Thread { continuation.resume(returning: body()) }
        if thread == nil { fatalError("no thread") }
    }
}
