import Glibc
import Home
import TestKit
import Wire

/// A real service, started from the build's folder.
final class ServiceProcess {
    private let process: pid_t
    private var isReaped = false
    private var killer: pid_t?

    init(_ service: ServiceName, home: Home, environment: [String] = []) throws {
        process = try spawn(
            "/usr/bin/env",
            environment + [try builtProgram(service.text), "serve", "--home", home.path],
            errors: home.path + "/\(service.text).log")
    }

    /// Sends a signal and waits for the end.
    func kill(_ signal: Int32) {
        guard !isReaped else { return }
        Glibc.kill(process, signal)
        waitpid(process, nil, 0)
        isReaped = true
    }

    /// Has another process send SIGKILL after a while, whatever this one does meanwhile.
    func killSoon(milliseconds: Int) throws {
        let pause = "\(milliseconds / 1_000).\(String(1_000 + milliseconds % 1_000).dropFirst())"
        killer = try spawn("/bin/sh", ["-c", "sleep \(pause); kill -9 \(process)"])
    }

    /// Waits for the end that ``killSoon(milliseconds:)`` brings.
    func awaitKill() {
        guard let killer, !isReaped else { return }
        waitpid(killer, nil, 0)
        self.killer = nil
        waitpid(process, nil, 0)
        isReaped = true
    }

    /// The most memory that it ever had, in KiB.
    func peakMemory() throws -> Int {
        let status = String(
            decoding: TestFile.contents(of: "/proc/\(process)/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let words = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }) ?? []
        guard words.count == 3, let count = Int(words[1]) else { throw TestError("VmHWM") }
        return count
    }

    var hasEnded: Bool {
        guard !isReaped else { return true }
        isReaped = waitpid(process, nil, WNOHANG) == process
        return isReaped
    }
}

/// A program that the build put beside the tests.
func builtProgram(_ name: String) throws -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard count > 0 else { throw TestError("/proc/self/exe") }
    let path = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard let slash = path.lastIndex(of: "/") else { throw TestError("path") }
    return path[...slash] + name
}

/// Starts a program; its standard output goes to a file where one is named.
func spawn(
    _ path: String, _ arguments: [String], output: String? = nil, errors: String? = nil
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, file) in [(STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
        guard let file else { continue }
        posix_spawn_file_actions_addopen(
            &actions, number, file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The test runner blocks signals that the program must get.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var process = pid_t()
    guard posix_spawn(&process, path, &actions, &attributes, words, environ) == 0 else {
        throw TestError("cannot start \(path)")
    }
    return process
}

/// Runs a program to its end and gives what it printed.
func run(_ path: String, _ arguments: [String]) throws -> String {
    let output = "/tmp/coffer-test-\(getpid())-\(UInt64.random(in: .min ... .max))"
    defer { unlink(output) }
    let process = try spawn(path, arguments, output: output)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    guard status == 0 else { throw TestError("\(path) failed") }
    let descriptor = open(output, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = max(0, read(descriptor, &bytes, bytes.count))
    return String(decoding: bytes[..<count], as: UTF8.self)
}
