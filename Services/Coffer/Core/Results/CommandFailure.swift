internal import Wire

/// Why a command ends without having done what it was asked.
struct CommandFailure: Error, Equatable {
    /// What `--json` shows.
    var refusal: Refusal
    var exitCode: ExitCode
    /// The shares that it is about.
    var shares: [UnusableShare] = []
    /// The services that it is about.
    var services: [ServiceName] = []

    /// A service's refusal of a request of this kind.
    init(_ refusal: Refusal, kind: MethodKind) {
        self.refusal = refusal
        exitCode = ExitCode(refusal, kind: kind)
    }

    /// A failure of the command's own.
    ///
    /// - Parameter message: what exactly; the fault's own sentence where it is left out.
    init(_ fault: ClientFault, _ message: String? = nil, retryAfterMilliseconds: UInt64? = nil) {
        refusal = fault.refusal
        if let message { refusal.message = message }
        refusal.retryAfterMilliseconds = retryAfterMilliseconds
        exitCode = fault.exitCode
    }

    /// Does something with files; what is wrong with them becomes a failure of the command's own.
    static func naming<R: ~Copyable, E: Error>(
        _ fault: ClientFault, _ body: () throws(E) -> R
    ) throws(CommandFailure) -> R {
        do throws(E) {
            return try body()
        } catch {
            throw CommandFailure(fault, "\(error).")
        }
    }

    static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }

    var code: String { refusal.code }

    /// Whether another session may be let in where this one was not.
    var meansSessionIsOver: Bool {
        SessionFault(rawValue: code) != nil || code == "credential.locked"
    }

    /// `{"error":{…}}`, with what was noted on the way.
    func json(notes: [String] = []) -> [UInt8] {
        var writer = JSONWriter()
        writer.object("error") { refusal.write(to: &$0) }
        if !shares.isEmpty {
            writer.objects("shares", shares) { writer, share in share.write(to: &writer) }
        }
        if !services.isEmpty { writer.identifiers("services", services) }
        if !notes.isEmpty { writer.strings("notes", notes) }
        return writer.finish()
    }
}
