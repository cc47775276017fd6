import Glibc
import Home
import TestKit

/// The `coffer` command while it runs: what it says is seen at once, and it can be sent signals.
///
/// It has no terminal to ask on.
final class LiveCommand {

    private let process: pid_t
    private let complaints: Int32
    private let folder: TemporaryFolder
    private var said = ""

    /// How long something may be waited for, in milliseconds.
    private static let patience = 60_000
    private static let passcodeDescriptor: Int32 = 3
    /// POSIX_SPAWN_SETSID of the C library, whose header hides it.
    private static let newSession: Int16 = 0x80

    /// - Parameters:
    ///   - passcode: what `--passcode-fd 3` gives.
    ///   - onTerminal: whether standard error is a terminal.
    init(
        _ words: [String], home: Home, passcode: String, onTerminal: Bool = false
    ) throws {
        folder = try TemporaryFolder()
        let (ours, theirs) = try onTerminal ? Self.terminal() : Self.pipe()
        defer { close(theirs) }
        let (reading, writing) = try Self.pipe()
        defer { close(reading) }
        let bytes = Array(passcode.utf8)
        let count = write(writing, bytes, bytes.count)
        close(writing)
        guard count == bytes.count else { throw TestError("passcode") }
        complaints = ours
        let option = ["--passcode-fd", "\(Self.passcodeDescriptor)"]
        process = try Self.spawn(
            words + ["--home", home.path] + option,
            [STDERR_FILENO: theirs, Self.passcodeDescriptor: reading],
            output: folder.path(of: "output"))
    }

    deinit { close(complaints) }

    func signal(_ number: Int32) { kill(process, number) }

    /// Waits until standard error has a text.
    func wait(for isThere: (String) -> Bool) throws {
        for _ in 0..<Self.patience / 10 {
            drain(for: 10)
            if isThere(said) { return }
        }
        throw TestError("the command said: \(said)")
    }

    func end() throws -> CofferProcess.Ended {
        for _ in 0..<Self.patience / 10 {
            drain(for: 10)
            var status: Int32 = 0
            guard waitpid(process, &status, WNOHANG) == process else { continue }
            drain(for: 0)
            let code = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
            let output = try content(of: folder.path(of: "output"))
            return CofferProcess.Ended(
                status: code, output: String(decoding: output, as: UTF8.self), complaint: said)
        }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        throw TestError("the command does not end: \(said)")
    }

    /// Takes what was written to standard error.
    private func drain(for milliseconds: Int32) {
        var item = pollfd(fd: complaints, events: Int16(POLLIN), revents: 0)
        guard poll(&item, 1, milliseconds) > 0 else { return }
        guard item.revents & Int16(POLLIN) != 0 else {
            usleep(UInt32(milliseconds) * 1_000)
            return
        }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = max(0, read(complaints, &bytes, bytes.count))
        said += String(decoding: bytes[..<count], as: UTF8.self)
    }

    // MARK: Descriptors

    private static func pipe() throws -> (ours: Int32, theirs: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw TestError("pipe") }
        return try closedOnExecution(ends[0], ends[1])
    }

    private static func terminal() throws -> (ours: Int32, theirs: Int32) {
        var ours: Int32 = -1
        var theirs: Int32 = -1
        guard openpty(&ours, &theirs, nil, nil, nil) == 0 else { throw TestError("openpty") }
        return try closedOnExecution(ours, theirs)
    }

    /// Above those that the command is given.
    private static func closedOnExecution(
        _ ours: Int32, _ theirs: Int32
    ) throws -> (ours: Int32, theirs: Int32) {
        let moved = [ours, theirs].map { fcntl($0, F_DUPFD_CLOEXEC, 64) }
        close(ours)
        close(theirs)
        guard moved.allSatisfy({ $0 >= 0 }) else { throw TestError("fcntl") }
        return (moved[0], moved[1])
    }

    private static func spawn(
        _ arguments: [String], _ files: [Int32: Int32], output: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        for (number, descriptor) in files {
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The test runner blocks and ignores signals that the command must get.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigemptyset(&all)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&all, number) }
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
                | newSession)
        let path = try builtProgram("coffer")
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process = pid_t()
        guard posix_spawn(&process, path, &actions, &attributes, words, environ) == 0 else {
            throw TestError("cannot start \(path)")
        }
        return process
    }
}
