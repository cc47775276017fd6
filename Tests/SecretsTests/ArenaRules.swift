import Glibc
import Secrets
import Testing

private struct Refused: Error {}

/// The arena as its users see it; serialised, since some tests watch which block comes next.
@Suite(.serialized) struct ArenaRules {
    @Test(arguments: [40, 200, 3000])
    func aFreedBlockIsZeroWhenItIsHandedOutAgain(count: Int) {
        var seen: Set<UInt> = []
        var reused = 0
        for _ in 0..<200 {
            let secret = SecretBytes(count: count) { bytes in
                if !seen.insert(UInt(bitPattern: bytes.baseAddress)).inserted { reused += 1 }
                #expect(bytes.allSatisfy { $0 == 0 })
                bytes.initializeMemory(as: UInt8.self, repeating: 0xa5)
            }
            #expect(secret.array.allSatisfy { $0 == 0xa5 })
        }
        #expect(reused > 0)
    }

    /// In a process of its own, where no other test takes the block meanwhile.
    @Test func aBlockIsWipedAtTheMomentItIsLetGo() async {
        await #expect(processExitsWith: .success) {
            var address: UnsafeRawPointer?
            do {
                let secret = SecretBytes(copying: [UInt8](repeating: 0x5a, count: 1500))
                secret.withBytes { address = $0.baseAddress }
            }
            let freed = UnsafeRawBufferPointer(start: address, count: 1500)
            precondition(freed.allSatisfy { $0 == 0 })
        }
    }

    @Test func aFillingThatFailsLeavesNothingBehind() async {
        await #expect(processExitsWith: .success) {
            var address: UnsafeMutableRawPointer?
            var caught: Refused?
            do throws(Refused) {
                _ = try SecretBytes(count: 2000) { bytes throws(Refused) in
                    bytes.copyBytes(from: [1, 2, 3])
                    address = bytes.baseAddress
                    throw Refused()
                }
            } catch {
                caught = error
            }
            precondition(caught != nil)
            let freed = UnsafeRawBufferPointer(start: address, count: 2000)
            precondition(freed.allSatisfy { $0 == 0 })
        }
    }

    @Test func fortyThousandSecretsLiveAtOnce() {
        var held: [SharedSecret] = []
        for number in 0..<40_000 {
            let secret = SecretBytes(count: 32 + number % 200) { bytes in
                bytes.storeBytes(of: number, as: Int.self)
                bytes[bytes.count - 1] = UInt8(truncatingIfNeeded: number)
            }
            held.append(SharedSecret(secret))
        }
        for (number, shared) in held.enumerated() {
            shared.bytes.withBytes { bytes in
                let last = bytes[bytes.count - 1] == UInt8(truncatingIfNeeded: number)
                if bytes.load(as: Int.self) != number || !last { Issue.record("\(number) changed") }
            }
        }
    }

    @Test func manyThreadsShareTheArena() async {
        let mixed = await withTaskGroup(of: Bool.self) { group in
            for mark in UInt8(1)...8 {
                group.addTask {
                    for round in 0..<2000 {
                        let bytes = [UInt8](repeating: mark, count: 1 + round % 300)
                        let secret = SecretBytes(copying: bytes)
                        if !secret.withBytes({ $0.allSatisfy { $0 == mark } }) { return true }
                    }
                    return false
                }
            }
            return await group.contains(true)
        }
        #expect(!mixed)
    }

    @Test(arguments: [48, 5000])
    func aForkedChildSeesZeros(count: Int) throws {
        #expect(!SecretMemory.adviceRefused)
        let symbol = try #require(dlsym(nil, "fork"))
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        let secret = SecretBytes(copying: [UInt8](repeating: 0x77, count: count))
        let status = secret.withBytes { bytes in
            let child = fork()
            if child == 0 {
                var found: UInt8 = 0
                for byte in bytes { found |= byte }
                _exit(found == 0 ? 7 : 8)
            }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            return status
        }
        #expect(status == 7 << 8)
        #expect(secret.array.allSatisfy { $0 == 0x77 })
    }

    @Test(arguments: [-1, 4096])
    func aGuardPageStandsOnEitherSideOfALargeSecret(offset: Int) throws {
        let secret = SecretBytes(count: 8192)
        let outside = secret.withBytes { UInt(bitPattern: $0.baseAddress) }
            .advanced(by: offset < 0 ? -4096 : 8192)
        #expect(try permissions(at: outside) == "---p")
        #expect(try permissions(at: outside.advanced(by: offset < 0 ? 4096 : -4096)) == "rw-p")
    }

    @Test func aRefusedLockIsRememberedAndNotFatal() async {
        await #expect(processExitsWith: .success) {
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            let memlock = __rlimit_resource_t(8)  // A macro that Swift does not see.
            precondition(setrlimit(memlock, &none) == 0)
            // The superuser is not bound by the limit.
            let before = geteuid() == 0 ? dropPrivileges() : true
            precondition(before)
            precondition(!SecretMemory.lockingRefused)
            let secret = SecretBytes(copying: [1, 2, 3])
            precondition(SecretMemory.lockingRefused)
            precondition(secret.withBytes { $0[2] } == 3)
        }
    }
}

private func dropPrivileges() -> Bool { setgid(65534) == 0 && setuid(65534) == 0 }

/// How `/proc/self/maps` describes the page that holds the address.
private func permissions(at address: UInt) throws -> String {
    let file = try #require(fopen("/proc/self/maps", "r"))
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0 {
        let text = line.map { String(cString: $0) } ?? ""
        let fields = text.split(separator: " ")
        let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        if bounds[0] <= address && address < bounds[1] { return String(fields[1]) }
    }
    return "unmapped"
}
