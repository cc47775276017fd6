import Foundation
import KernelKeyring
import Secrets
import Testing

@Suite(.enabled(if: KernelKeyring.isAvailable, "the kernel refuses keyrings to this process"))
struct KernelKeyringRules {
    let name = "coffer-test:\(UUID().uuidString)"

    @Test func whatIsKeptCanBeReadAgain() throws {
        defer { try? KernelKeyring.remove(name: name) }
        try keep([1, 0, 2, 255])
        #expect(try kept() == [1, 0, 2, 255])
    }

    @Test func keepingAgainReplaces() throws {
        defer { try? KernelKeyring.remove(name: name) }
        try keep([1, 2, 3])
        try keep(Array(repeating: 7, count: 5_000))
        #expect(try kept() == Array(repeating: 7, count: 5_000))
    }

    @Test func anUnknownNameIsNothingAndNoError() throws {
        #expect(try kept() == nil)
        try KernelKeyring.remove(name: name)
    }

    @Test func whatIsRemovedIsGone() throws {
        try keep([1])
        try KernelKeyring.remove(name: name)
        #expect(try kept() == nil)
    }

    @Test(.timeLimit(.minutes(1))) func theKernelForgetsWhenTheTimeIsUp() async throws {
        try keep([1], seconds: 1)
        #expect(try kept() == [1])
        while try kept() != nil { try await Task.sleep(for: .milliseconds(50)) }
        try KernelKeyring.remove(name: name)
    }

    @Test func everyKeyHasATimeoutAndIsForItsOwnerAlone() throws {
        defer { try? KernelKeyring.remove(name: name) }
        try keep([1], seconds: 300)
        // Fields: id, flags, usage, time left, permissions, user, group, type, description.
        let line = try #require(
            try String(contentsOfFile: "/proc/keys", encoding: .utf8)
                .split(separator: "\n").first { $0.contains(name) })
        let fields = line.split(separator: " ")
        #expect(fields[3] != "perm" && fields[3] != "expd")
        #expect(fields[4] == "3f0b0000")
    }

    @Test func aTimeoutOfZeroIsRefusedBecauseTheKernelTakesItForNone() {
        #expect(throws: KeyringError.failed(errno: EINVAL)) { try keep([1], seconds: 0) }
    }

    @Test func anEmptySecretIsRefused() {
        #expect(throws: KeyringError.failed(errno: EINVAL)) { try keep([]) }
    }

    @Test func aNameTheKernelWouldCutIsRefused() {
        for name in ["", "a\0b"] {
            #expect(throws: KeyringError.failed(errno: EINVAL)) {
                try KernelKeyring.store(SecretBytes(copying: [1]), name: name, timeoutSeconds: 1)
            }
            #expect(throws: KeyringError.failed(errno: EINVAL)) {
                try KernelKeyring.remove(name: name)
            }
        }
    }

    @Test func aSecretTooLargeForTheKernelIsRefusedAndLeavesTheOldOne() throws {
        defer { try? KernelKeyring.remove(name: name) }
        try keep([1])
        #expect(throws: KeyringError.self) { try keep(Array(repeating: 1, count: 40_000)) }
        #expect(try kept() == [1])
    }

    private func keep(_ bytes: [UInt8], seconds: UInt32 = 60) throws {
        try KernelKeyring.store(SecretBytes(copying: bytes), name: name, timeoutSeconds: seconds)
    }

    private func kept() throws -> [UInt8]? {
        guard let secret = try KernelKeyring.read(name: name) else { return nil }
        return secret.withBytes { Array($0) }
    }
}
