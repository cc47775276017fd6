internal import AuthorityMessages
public import DeviceKeyFrames
public import Loop

/// Speaks with tokens through a program of its own, started anew for each thing.
///
/// A module that hangs or crashes takes that program with it, and nothing else.
@ServiceLoop
public final class ChildReader: DeviceKeyReader {
    /// How many are at work at a time.
    public nonisolated static let width = 8

    private let command: ReaderProcess.Command
    private let pool = WorkerPool(width: width)
    private var atWork = 0

    /// - Parameters:
    ///   - program: the path of `device-key-reader`.
    ///   - module: the one PKCS #11 module to load; nil for those that the machine names.
    ///   - environment: `NAME=VALUE` beside what the process has.
    public init(program: String, module: String?, environment: [String] = []) {
        command = ReaderProcess.Command(
            program: program, arguments: module.map { [$0] } ?? [], environment: environment)
    }

    public func ask(_ request: DeviceKeyRequest, milliseconds: UInt64) async -> DeviceKeyAnswer {
        // Tokens of others that hang must not make this one wait.
        guard atWork < Self.width else { return .failed(.busy) }
        atWork += 1
        defer { atWork -= 1 }
        guard let frame = request.encoded() else { return .failed(.invalidURI) }
        let command = command
        return await pool.run {
            ReaderProcess.ask(frame, command, milliseconds: milliseconds)
        }
    }
}
