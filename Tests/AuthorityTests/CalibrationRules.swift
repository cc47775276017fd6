import Clocks
import Loop
import Secrets
import TestKit
import Testing
import Wire

@testable import AuthorityCore

/// Iterations go toward the wanted time and never leave their bounds.
@Suite(.timeLimit(.minutes(1)))
struct CalibrationRules {
    @Test(
        arguments: [
            // Wanted time, probe, what it took, iterations.
            (350_000_000, 50_000, 17_500_000, 1_000_000),
            (350_000_000, 50_000, 1, 3_000_000),
            (350_000_000, 50_000, 0, 600_000),
            (350_000_000, 50_000, 10_000_000_000, 600_000),
            (0, 50_000, 1_000_000, 600_000),
            (5_000_000_000, 50_000, 10_000_000, 3_000_000),
        ] as [(UInt64, Int, UInt64, Int)])
    func theRuleKeepsItsBounds(_ target: UInt64, _ probe: Int, _ took: UInt64, _ wanted: Int) {
        #expect(KDFCalibration.iterations(taking: target, where: probe, took: took) == wanted)
    }

    @Test func theMachineIsMeasuredOnce() async throws {
        try await LoopHarness.run {
            let kdf = CheapKDF()
            let calibration = KDFCalibration(
                kdf: kdf, clock: FakeBootClock(), targetMilliseconds: 350)
            let first = await calibration.iterations()
            let runs = kdf.runs
            #expect(runs > 0)
            #expect(await calibration.iterations() == first)
            #expect(kdf.runs == runs)
        }
    }

    /// From the wanted milliseconds to the iterations, on a machine whose speed is known.
    @Test func aDerivationTakesTheTimeThatIsWanted() async throws {
        try await LoopHarness.run {
            let clock = FakeBootClock()
            let kdf = TimedKDF(clock)
            let wanted = AuthoritySettings().kdfTargetMilliseconds
            let calibration = KDFCalibration(kdf: kdf, clock: clock, targetMilliseconds: wanted)
            let iterations = await calibration.iterations()
            #expect(iterations == 1_000_000)
            let start = clock.now.nanoseconds
            _ = await kdf.derive(
                password: SharedSecret(SecretBytes(count: 1)), salt: [], iterations: iterations)
            #expect(clock.now.nanoseconds - start == 350_000_000)
        }
    }

    @Test func theRealDerivationIsPBKDF2() async throws {
        try await LoopHarness.run {
            let kdf = PooledKDF(threads: 1)
            let key = await kdf.derive(
                password: SharedSecret(SecretBytes(copying: Array("password".utf8))),
                salt: Array("salt".utf8), iterations: 1)
            let known = "120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b"
            #expect(Hex.encode(key.bytes.withBytes { Array($0) }) == known)
            #expect((1...2).contains(PooledKDF.defaultThreads))
        }
    }
}

/// A derivation that takes 350 ns of a clock for each iteration.
@ServiceLoop
private final class TimedKDF: PasscodeKDF {
    private let clock: FakeBootClock

    init(_ clock: FakeBootClock) { self.clock = clock }

    func derive(
        password: SharedSecret, salt: [UInt8], iterations: Int
    ) async -> SharedSecret {
        clock.advance(nanoseconds: UInt64(iterations) * 350)
        return SharedSecret(SecretBytes(count: PasscodeWrapper.keyBytes))
    }
}
