import Crypto
import Foundation
import Secrets
import Testing

/// What OpenSSL makes of a key while it reads or writes a file is wiped before the answer.
@Suite(.enabled(if: ProcessMemory.canBeRead, "needs /proc/self/mem"))
struct KeyMemoryRules {
    @Test func aKeyThatIsMadeIsInSecretMemoryAlone() throws {
        let seed = KernelRandom().secret(32)
        let text = try Ed25519KeyFile.protected(
            seed: seed, passphrase: secret(ascii: "a passphrase"), random: KernelRandom())
        #expect(!text.isEmpty)
        #expect(ProcessMemory.count(seed) == 1)
    }

    @Test(arguments: [true, false]) func aKeyThatIsReadIsInSecretMemoryAlone(
        isProtected: Bool
    ) throws {
        let text = try Self.fileOfAnotherProgram(isProtected: isProtected)
        let file = try Ed25519KeyFile(text)
        let seed = try file.seed(passphrase: secret(ascii: "a"))
        // Once as it was read, and in clear once more in the document that the file keeps.
        #expect(ProcessMemory.count(seed) == (isProtected ? 1 : 2))
    }

    /// A key that this process has not seen.
    private static func fileOfAnotherProgram(isProtected: Bool) throws -> SecretBytes {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { unlink(path) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["openssl", "genpkey", "-algorithm", "ed25519", "-out", path]
            + (isProtected ? ["-aes-256-cbc", "-pass", "pass:a"] : [])
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let file = open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var text = SecretBytes(count: 1_024)
        let count = text.withMutableBytes { read(file, $0.baseAddress, $0.count) }
        try #require(count > 0)
        return text.slice(0..<count)
    }
}

/// The memory of this process, all of it.
private enum ProcessMemory {
    private static let path = "/proc/self/mem"
    private static let windowBytes = 1 << 20

    static var canBeRead: Bool { access(path, R_OK) == 0 && access("/proc/self/maps", R_OK) == 0 }

    /// How often a secret is in it, on the stack of this call and in its buffer aside.
    static func count(_ secret: borrowing SecretBytes) -> Int {
        let memory = open(path, O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { return -1 }
        defer { close(memory) }
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: windowBytes, alignment: 1)
        defer { window.deallocate() }
        var found = 0
        for region in regions() {
            var start = region.lowerBound
            while start < region.upperBound {
                let length = min(UInt(windowBytes), region.upperBound - start)
                let got = pread(memory, window.baseAddress, Int(length), off_t(start))
                guard got > 0 else { break }
                let own = UInt(bitPattern: window.baseAddress)
                found += occurrences(
                    of: secret, in: UnsafeRawBufferPointer(rebasing: window[..<got])
                ) {
                    let address = start + UInt($0)
                    return address + 32 <= own || address >= own + UInt(windowBytes)
                }
                guard length == UInt(windowBytes) else { break }
                // What lies across two windows is in the next one.
                start += UInt(windowBytes) - 31
            }
        }
        wipe(window)
        return found
    }

    private static func occurrences(
        of secret: borrowing SecretBytes, in bytes: UnsafeRawBufferPointer,
        where counts: (Int) -> Bool
    ) -> Int {
        secret.withBytes { secret in
            var found = 0
            var offset = 0
            while let base = bytes.baseAddress, let wanted = secret.baseAddress,
                bytes.count - offset >= secret.count,
                let hit = memchr(
                    base + offset, Int32(secret[0]), bytes.count - offset - secret.count + 1)
            {
                let place = UnsafeRawPointer(hit) - base
                if memcmp(hit, wanted, secret.count) == 0, counts(place) { found += 1 }
                offset = place + 1
            }
            return found
        }
    }

    private static func wipe(_ window: UnsafeMutableRawBufferPointer) {
        window.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// What can be read and written.
    private static func regions() -> [Range<UInt>] {
        maps().split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2, words[1].hasPrefix("rw"), ends[1] < UInt(Int.max) else {
                return nil
            }
            return ends[0]..<ends[1]
        }
    }

    /// Read to the end: the file says that it has no length.
    private static func maps() -> String {
        let file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while case let got = read(file, &block, block.count), got > 0 { bytes += block[..<got] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
