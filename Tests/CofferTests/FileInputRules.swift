import Glibc
import Home
import Secrets
import TestKit
import Testing
import Wire

@testable import CofferCore

/// What a command line names is read where it is a file, and never waited for.
@Suite(.timeLimit(.minutes(1)))
struct FileInputRules {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [0, 5, 6]) func oneByteMoreThanTheLimitIsRead(_ count: Int) throws {
        let path = folder.path(of: "file")
        try write([UInt8](repeating: 7, count: count), to: path)
        let bytes = try FileInput.bytes(path, limit: 5)
        #expect(bytes == [UInt8](repeating: 7, count: min(count, 6)))
        #expect(try FileInput.secret(path, limit: 5).withBytes { Array($0) } == bytes)
    }

    /// Nobody ever writes into the pipe.
    @Test func whatIsNoOrdinaryFileIsRefusedAtOnce() throws {
        let pipe = folder.path(of: "pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, folder.path, "/dev/zero", "/dev/null"] {
            let refused = failure { () throws(CommandFailure) in
                _ = try FileInput.bytes(path, limit: 5)
            }
            #expect(refused?.code == "coffer.file_unreadable", "\(path)")
            #expect(refused?.refusal.message.contains("no ordinary file") == true)
        }
    }

    @Test(arguments: [
        ["backup", "restore", "PIPE", "PIPE", "PIPE"],
        ["holder", "add", "anna", "--key", "PIPE"],
        ["holder", "release", "--share", "PIPE", "--key", "PIPE", "--request", "PIPE"],
        ["wallet", "sign", "x", "--scheme", "ed25519", "--path", "m", "--message-file", "PIPE"],
        ["passcode", "import", "--record", "PIPE", "--device-secret", "PIPE"],
    ])
    func noVerbWaitsForAPipe(_ line: [String]) throws {
        let pipe = folder.path(of: "pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let out = line.contains("release") ? ["--out", folder.path(of: "out")] : []
        let failed = failure { () throws(CommandFailure) in
            let run = try Fixture().prepare(line.map { $0 == "PIPE" ? pipe : $0 } + out)
            _ = try run.invocation.verb.run(run)
        }
        #expect(failed?.code == "coffer.file_unreadable")
    }

    /// The settings of an installation are named with it.
    @Test func noSettingsAreWaitedFor() throws {
        try #require(mkfifo(folder.path(of: "coffer.conf"), 0o600) == 0)
        #expect(throws: SettingsError.self) { _ = try Settings.read(of: Home(path: folder.path)) }
    }

    /// As `<(command)` names them.
    @Test func aDescriptorThatIsOpenIsReadByItsPath() throws {
        for directory in ["/dev/fd", "/proc/self/fd"] {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            defer { close(ends[0]) }
            _ = [UInt8]([1, 2, 3]).withUnsafeBytes {
                Glibc.write(ends[1], $0.baseAddress, $0.count)
            }
            close(ends[1])
            #expect(try FileInput.bytes("\(directory)/\(ends[0])", limit: 5) == [1, 2, 3])
        }
    }

    @Test(arguments: [
        ["holder", "keygen", "--out", ""], ["holder", "keygen", "--out="],
        ["backup", "split", "x", "--out", ""], ["holder", "add", "x", "--key", ""],
        ["backup", "restore", "", "a", "b"],
    ])
    func anEmptyPathIsSaid(_ line: [String]) {
        let fixture = Fixture()
        let failed = failure { () throws(CommandFailure) in _ = try fixture.prepare(line) }
        #expect(failed?.exitCode == .usage)
        #expect(failed?.refusal.message.contains("empty") == true)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        try #require(count == bytes.count)
    }
}
