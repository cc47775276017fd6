import Glibc
import TestKit

/// Tokens of SoftHSM in a folder of their own, for the programs that are started meanwhile.
final class SoftTokens {
    static let pin = "4321"
    /// Debian's `softhsm2`.
    static let module = "/usr/lib/softhsm/libsofthsm2.so"

    private let folder: TemporaryFolder
    private var gate: pid_t?

    /// Makes tokens with these labels.
    init(_ labels: String...) throws {
        folder = try TemporaryFolder()
        let settings = folder.path(of: "softhsm2.conf")
        guard mkdir(folder.path(of: "tokens"), 0o700) == 0 else { throw TestError("mkdir") }
        try write(
            "directories.tokendir = \(folder.path)/tokens\nlog.level = ERROR\n", to: settings)
        setenv("SOFTHSM2_CONF", settings, 1)
        for label in labels {
            _ = try run(
                "/usr/bin/softhsm2-util",
                [
                    "--init-token", "--free", "--label", label, "--so-pin", "12345678", "--pin",
                    Self.pin,
                ])
        }
    }

    deinit {
        if let gate {
            kill(gate, SIGKILL)
            waitpid(gate, nil, 0)
        }
        unsetenv("SOFTHSM2_CONF")
        unsetenv("P11_KIT_SERVER_ADDRESS")
    }

    // MARK: What happens to a token

    /// Has `token.py` do something; what it prints.
    @discardableResult
    func tool(_ label: String, pin: String = pin, _ words: String...) throws -> String {
        try run(
            "/usr/bin/env",
            ["python3", try script("token.py"), Self.module, label, pin] + words)
    }

    func objectCount(_ label: String, pin: String = pin) throws -> Int {
        try known(Int(tool(label, pin: pin, "count").filter { !$0.isNewline }))
    }

    /// Pulls a token out for ever.
    func remove(_ label: String) throws {
        _ = try run("/usr/bin/softhsm2-util", ["--delete-token", "--token", label])
    }

    // MARK: The gate

    /// Puts the tokens behind `gate.py`.
    ///
    /// - Returns: the path of the module that goes through it.
    func makeGate() throws -> String {
        let socket = folder.path(of: "gate.sock")
        guard mkdir(folder.path(of: "gate"), 0o700) == 0 else { throw TestError("mkdir") }
        gate = try spawn(
            "/usr/bin/env",
            ["python3", try script("gate.py"), socket, folder.path(of: "gate"), Self.module],
            errors: folder.path(of: "gate.log"))
        for _ in 0..<500 where access(socket, F_OK) != 0 { usleep(10_000) }
        setenv("P11_KIT_SERVER_ADDRESS", "unix:path=\(socket)", 1)
        let client = TemporaryFolder.names(in: "/usr/lib").map {
            "/usr/lib/\($0)/pkcs11/p11-kit-client.so"
        }
        return try known(client.first { access($0, R_OK) == 0 })
    }

    /// Counts the calls from one again.
    func countAnew() { unlink(folder.path(of: "gate/count")) }

    /// Has the token end at a call, counted from ``countAnew()``; at none where nil.
    func cut(at call: Int?) throws { try rule("cut", call) }

    /// Has a call wait; lets it go on where nil.
    func hold(at call: Int?) throws { try rule("hold", call) }

    /// Waits until a call waits.
    func awaitHeld() throws {
        for _ in 0..<1_000 {
            if access(folder.path(of: "gate/held"), F_OK) == 0 { return }
            usleep(10_000)
        }
        throw TestError("no call waits")
    }

    /// How many calls came since ``countAnew()``.
    func callCount() throws -> Int {
        let text = String(decoding: try content(of: folder.path(of: "gate/count")), as: UTF8.self)
        return try known(Int(text))
    }

    private func rule(_ name: String, _ call: Int?) throws {
        let path = folder.path(of: "gate/\(name)")
        guard let call else {
            unlink(path)
            return
        }
        try write("\(call)", to: path)
    }

    private func script(_ name: String) throws -> String {
        let here = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        return "/\(here)/Tokens/\(name)"
    }
}
