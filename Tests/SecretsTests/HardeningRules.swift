import CLinux
import Glibc
import Testing

@testable import Secrets

@Suite struct HardeningRules {
    @Test func aHardenedProcessLeavesNoCoreAndOpensFilesForItsOwnerAlone() async {
        await #expect(processExitsWith: .success) {
            precondition(coffer_is_dumpable() == 1)
            ProcessHardening.apply()
            precondition(coffer_is_dumpable() == 0)
            var limit = rlimit()
            precondition(getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
            precondition(limit.rlim_cur == 0 && limit.rlim_max == 0)
            precondition(umask(0) == 0o077)
        }
    }

    @Test func aCrashIsLeftToTheKernel() async {
        await #expect(processExitsWith: .success) {
            for number in ProcessHardening.crashSignals { signal(number) { _ in } }
            ProcessHardening.apply()
            for number in ProcessHardening.crashSignals {
                precondition(signal(number, SIG_DFL) == nil)
            }
        }
    }

    @Test func wipingOverwritesEveryByte() {
        var bytes = [UInt8](repeating: 0xff, count: 1000)
        bytes.withUnsafeMutableBytes { wipe($0) }
        #expect(bytes.allSatisfy { $0 == 0 })
        wipe(UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }
}
