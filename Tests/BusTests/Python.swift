import Foundation

/// The Python binding of ZeroMQ, where it is installed: another implementation of the client side.
enum Python {
    static let hasZeroMQ = run("import zmq, zmq.auth") != nil

    /// What the script prints; nil where it fails.
    static func run(_ script: String) -> String? {
        let output = Pipe()
        guard let process = start(script, output: output) else { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: data, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Starts a script and does not wait for it.
    static func start(_ script: String, output: Pipe = Pipe()) -> Process? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", script]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        return (try? process.run()) == nil ? nil : process
    }
}
