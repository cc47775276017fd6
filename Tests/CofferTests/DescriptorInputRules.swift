import Glibc
import Secrets
import TestKit
import Testing
import Wire

@testable import CofferCore

@Suite struct DescriptorInputRules {
    private static let option = CommandOption.passcodeDescriptor

    /// What is read of these bytes, or nil where they are refused.
    private func read(_ bytes: [UInt8]) -> [UInt8]? {
        guard let folder = try? TemporaryFolder() else { return nil }
        let path = folder.path(of: "input")
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        lseek(file, 0, SEEK_SET)
        let secret = try? DescriptorInput.secret(file, named: Self.option)
        return secret?.withBytes { Array($0) }
    }

    @Test(arguments: [
        ("1234", "1234"), ("1234\n", "1234"), ("1234\n\n", "1234\n"), ("1234\r\n", "1234\r"),
        (" 12 34 ", " 12 34 "), ("\n12", "\n12"), ("a\u{0}b\n", "a\u{0}b"),
    ])
    func oneTrailingLineFeedIsRemovedAndNothingElse(given: String, expected: String) {
        #expect(read(Array(given.utf8)) == Array(expected.utf8))
    }

    @Test func whatIsEmptyIsRefused() {
        #expect(read([]) == nil)
        #expect(read([0x0A]) == nil)
    }

    @Test func theLimitIsFourKibibytesWithoutTheLineFeed() {
        let full = [UInt8](repeating: 0x61, count: 4_096)
        #expect(read(full) == full)
        #expect(read(full + [0x0A]) == full)
        #expect(read(full + [0x61]) == nil)
        #expect(read(full + [0x61, 0x0A]) == nil)
        #expect(read(full + [0x0A, 0x0A]) == nil)
        #expect(read(full + full) == nil)
    }

    @Test func aPipeIsReadToItsEnd() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        for part in ["12", "34", "\n"] {
            _ = Array(part.utf8).withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
        }
        close(ends[1])
        let secret = try DescriptorInput.secret(ends[0], named: Self.option)
        #expect(secret.withBytes { Array($0) } == Array("1234".utf8))
    }

    @Test func aDescriptorThatCannotBeReadIsAUsageError() throws {
        let folder = try TemporaryFolder()
        let file = open(folder.path(of: "x"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let refused = failure { () throws(CommandFailure) in
            _ = try DescriptorInput.secret(file, named: Self.option)
        }
        #expect(refused?.exitCode == .usage)
        #expect(refused?.refusal.message.contains("--passcode-fd") == true)
    }

    @Test func aTerminalIsNotReadWithItsEchoOn() throws {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(terminal >= 0)
        let refused = failure { () throws(CommandFailure) in
            _ = try DescriptorInput.secret(terminal, named: Self.option)
        }
        #expect(refused?.exitCode == .usage)
    }

    @Test(arguments: ["", "x", "-1", "4294967296", "999"])
    func aNumberThatIsNoOpenDescriptorIsAUsageError(number: String) {
        let refused = failure { () throws(CommandFailure) in
            _ = try Fixture().run("unlock", "--passcode-fd=\(number)")
        }
        #expect(refused?.exitCode == .usage)
    }

    @Test func descriptorsAreLookedAtBeforeAnythingIsOpened() throws {
        let folder = try TemporaryFolder()
        let file = open(folder.path(of: "x"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let change = ["passcode", "change"]
        let reveal = ["wallet", "reveal", "x"]
        let sign = ["wallet", "sign", "x", "--scheme", "ed25519", "--path", "m"]
        let cases: [(line: [String], isRight: Bool)] = [
            (change + ["--passcode-fd", "\(file)", "--new-passcode-fd", "0"], true),
            (change + ["--passcode-fd", "999"], false),
            (change + ["--new-passcode-fd", "999"], false),
            (["wallet", "import", "--phrase-fd", "999"], false),
            (reveal + ["--phrase-out-fd", "999"], false),
            (change + ["--passcode-fd", "\(file)", "--new-passcode-fd", "\(file)"], false),
            (reveal + ["--phrase-out-fd", "1"], true),
            (reveal + ["--phrase-out-fd", "1", "--json"], false),
            (reveal + ["--phrase-out-fd", "\(file)", "--json"], true),
            (sign + ["--message-file", "-", "--passcode-fd", "0"], false),
        ]
        for (line, isRight) in cases {
            let invocation = try Fixture().prepare(line).invocation
            let refused = failure { () throws(CommandFailure) in
                _ = try NamedDescriptors(of: invocation)
            }
            #expect(refused?.exitCode == (isRight ? nil : .usage), "\(line)")
        }
    }

    @Test func oneDescriptorServesOneOption() throws {
        let folder = try TemporaryFolder()
        let file = open(folder.path(of: "x"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let run = try Fixture().prepare(
            [
                "passcode", "change", "--passcode-fd", "\(file)", "--new-passcode-fd", "\(file)",
            ])
        _ = try run.descriptor(.passcodeDescriptor)
        #expect(
            failure { () throws(CommandFailure) in
                _ = try run.descriptor(.newPasscodeDescriptor)
            }?.exitCode == .usage)
    }
}
