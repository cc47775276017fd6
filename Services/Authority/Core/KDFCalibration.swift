internal import Clocks
internal import Loop
internal import Secrets

/// How many PBKDF2 iterations a new passcode gets: as many as take the wanted time here.
@ServiceLoop
final class KDFCalibration {
    /// Enough to outweigh the way to the thread and back, and over in some milliseconds.
    private nonisolated static let probeIterations = 50_000
    private nonisolated static let probes = 3

    private let kdf: any PasscodeKDF
    private let clock: any BootClock
    private let targetNanoseconds: UInt64
    private var known: Int?

    init(kdf: any PasscodeKDF, clock: any BootClock, targetMilliseconds: Int) {
        self.kdf = kdf
        self.clock = clock
        targetNanoseconds = UInt64(max(0, targetMilliseconds)) * 1_000_000
    }

    /// Measures at the first call and remembers.
    func iterations() async -> Int {
        if let known { return known }
        var fastest = UInt64.max
        for _ in 0..<Self.probes {
            let start = clock.now.nanoseconds
            _ = await kdf.derive(
                password: SharedSecret(SecretBytes(count: PasscodeWrapper.keyBytes)),
                salt: [UInt8](repeating: 0, count: CredentialRecord.Passcode.saltBytes),
                iterations: Self.probeIterations)
            fastest = min(fastest, clock.now.nanoseconds &- start)
        }
        let iterations = Self.iterations(
            taking: targetNanoseconds, where: Self.probeIterations, took: fastest)
        known = iterations
        return iterations
    }

    /// The iterations that take so long, within the bounds; a clock that stood still tells nothing,
    /// and the lower bound holds.
    nonisolated static func iterations(
        taking target: UInt64, where probe: Int, took elapsed: UInt64
    ) -> Int {
        let allowed = PasscodeWrapper.iterationsAllowed
        guard elapsed > 0 else { return allowed.lowerBound }
        let wanted = Double(probe) * Double(target) / Double(elapsed)
        let bounded = min(max(wanted, Double(allowed.lowerBound)), Double(allowed.upperBound))
        return Int(bounded)
    }
}
