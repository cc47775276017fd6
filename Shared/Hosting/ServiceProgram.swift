public import Clocks
internal import Glibc
internal import Home
internal import Loop
internal import Secrets
public import Serving
public import Storage
public import Wire

/// A service as a program: what differs between the services, and the one way to run them.
public struct ServiceProgram<S: Service>: Sendable {
    let calls: [ServiceName]
    let publishes: Bool
    let arriving: Arriving?
    let build: @ServiceLoop @Sendable (ServiceParts) throws -> S

    /// What a service does with a store that comes from elsewhere, before it takes the place of the
    /// present one; nil where there is none that can be read.
    public typealias Arriving =
        @Sendable (_ arrived: Database, _ present: Database?, _ now: BootMoment) throws -> Void

    /// - Parameters:
    ///   - calls: the services that this one calls.
    ///   - publishes: whether it tells events.
    ///   - arriving: what it does with a store that comes from elsewhere; nothing where left out.
    public init(
        calls: [ServiceName] = [], publishes: Bool = false, arriving: Arriving? = nil,
        build: @escaping @ServiceLoop @Sendable (ServiceParts) throws -> S
    ) {
        self.calls = calls
        self.publishes = publishes
        self.arriving = arriving
        self.build = build
    }

    /// Does what the command line says, and ends the process.
    public func main() -> Never {
        ProcessHardening.apply()
        exit(run(Array(CommandLine.arguments.dropFirst())))
    }

    private func run(_ arguments: [String]) -> Int32 {
        do throws(ProgramError) {
            switch try ProgramCommand(arguments, program: S.name.text) {
            case .help: say(ProgramCommand.help(program: S.name.text))
            case .version: say("\(S.name.text) \(Version.text)")
            case .checkConfiguration(let home): try checkConfiguration(home)
            case .probe(let home, let json): try probe(home, json: json)
            case .purge(let home, let owner): try purge(home, owner: owner)
            case .settle(let folder): try settle(folder)
            case .arrive(let folder, let present): try arrive(folder, over: present)
            case .serve(let home): try serve(home)
            }
            return 0
        } catch {
            complain("\(S.name.text): \(error.sentence)")
            return error.exitCode
        }
    }
}

/// Why a program ends before its work is done.
struct ProgramError: Error {
    let exitCode: Int32
    /// What a person can do about it.
    let sentence: String
    /// What the bus or the service said, where that is the reason.
    var refusal: Refusal?

    /// As `--json` shows it: with the codes that `coffer` has for what the program itself meets.
    var shownRefusal: Refusal {
        let own = exitCode == 7 ? "coffer.installation" : "coffer.internal"
        return Refusal(
            code: refusal?.code ?? own, message: sentence,
            outcome: refusal?.outcome ?? .rejected,
            retryAfterMilliseconds: refusal?.retryAfterMilliseconds)
    }

    static func usage(_ sentence: String) -> ProgramError {
        ProgramError(exitCode: 2, sentence: sentence)
    }
    static func unreachable(_ sentence: String) -> ProgramError {
        ProgramError(exitCode: 6, sentence: sentence)
    }
    static func refused(_ sentence: String) -> ProgramError {
        ProgramError(exitCode: 7, sentence: sentence)
    }
    static func damaged(_ sentence: String) -> ProgramError {
        ProgramError(exitCode: 9, sentence: sentence)
    }
    static func failed(_ sentence: String) -> ProgramError {
        ProgramError(exitCode: 1, sentence: sentence)
    }
}

func say(_ text: String) { write(text, to: STDOUT_FILENO) }
func complain(_ text: String) { write(text, to: STDERR_FILENO) }

private func write(_ text: String, to descriptor: Int32) {
    let line = Array(text.utf8) + [0x0A]
    _ = line.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
}
