import Glibc
import Home
import Wire

/// The `coffer` command, run as a program without a terminal.
struct CofferProcess {
    struct Ended {
        let status: Int32
        let output: String
        let complaint: String

        /// The one object of `--json`.
        func object() throws -> JSONObject {
            try JSONDocument(Array(output.utf8.dropLast())).object()
        }
    }

    let home: Home

    /// Runs a command line to its end.
    ///
    /// - Parameter secrets: what is read from descriptors, each after the option that names it.
    @discardableResult
    func callAsFunction(
        _ words: String..., secrets: [(option: String, text: String)] = []
    ) throws -> Ended {
        try run(words, secrets: secrets)
    }

    /// - Parameter fileBytesMax: how long a file may get: a write beyond fails, as on a full disk.
    func run(
        _ words: [String], secrets: [(option: String, text: String)] = [],
        killAfterMicroseconds: UInt32? = nil, fileBytesMax: Int? = nil
    ) throws -> Ended {
        let output = Self.path()
        let complaint = Self.path()
        defer {
            unlink(output)
            unlink(complaint)
        }
        var line = words + ["--home", home.path]
        var ends: [Int32] = []
        defer { for end in ends { close(end) } }
        for secret in secrets {
            let end = try Self.pipe(secret.text)
            ends.append(end)
            line += [secret.option, "\(end)"]
        }
        let limits = fileBytesMax.map {
            ["/bin/sh", "-c", "trap '' XFSZ; ulimit -f \($0 / 512); exec \"$@\"", "sh"]
        }
        let process = try spawn(
            "/usr/bin/setsid", ["-w"] + (limits ?? []) + [try builtProgram("coffer")] + line,
            output: output, errors: complaint)
        if let killAfterMicroseconds {
            usleep(killAfterMicroseconds)
            killGroup(of: process)
        }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return Ended(
            status: status & 0x7f == 0 ? status >> 8 & 0xff : -1,
            output: try Self.text(in: output), complaint: try Self.text(in: complaint))
    }

    /// `setsid -w` waits for the program in a session of its own.
    private func killGroup(of process: pid_t) {
        guard let children = try? Self.text(in: "/proc/\(process)/task/\(process)/children") else {
            return
        }
        for child in children.split(separator: " ").compactMap({ pid_t($0) }) {
            Glibc.kill(child, SIGKILL)
        }
        Glibc.kill(process, SIGKILL)
    }

    /// The end of a pipe to read a text from; the program gets it by its number.
    private static func pipe(_ text: String) throws -> Int32 {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw TestError("pipe") }
        let bytes = Array(text.utf8)
        let count = Glibc.write(ends[1], bytes, bytes.count)
        close(ends[1])
        guard count == bytes.count else { throw TestError("pipe") }
        return ends[0]
    }

    private static func path() -> String {
        "/tmp/coffer-test-\(getpid())-\(UInt64.random(in: .min ... .max))"
    }

    private static func text(in path: String) throws -> String {
        String(decoding: try content(of: path), as: UTF8.self)
    }
}

/// The bytes of a file that is not long.
func content(of path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw TestError("open \(path)") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = max(0, read(descriptor, &bytes, bytes.count))
    return Array(bytes[..<count])
}
