internal import ChildProcesses
internal import Glibc
internal import Secrets

/// Asks through a `pinentry` program, over the Assuan protocol.
struct Pinentry {
    /// Why it gave no answer.
    enum Failure: Error, Equatable {
        /// It cannot ask here; something else may.
        case unusable
        /// The person will not say, or was not there.
        case cancelled
    }

    /// Where questions are shown.
    struct Display {
        /// The terminal's device; nil where there is none.
        var terminal: String?
        var terminalType: String?
        var locale: String?
    }

    let program: String
    let display: Display

    private static let answerSeconds: Int32 = 300
    /// It should give up by itself; this is for one that hangs.
    private static let lineMilliseconds = (answerSeconds + 10) * 1_000
    private static let entryLimit = 3
    /// The low half of an error's number is its reason; the rest is where it arose.
    private static let reasonMask: UInt32 = 0xFFFF
    /// GPG_ERR_TIMEOUT, GPG_ERR_CANCELED, GPG_ERR_NOT_CONFIRMED and GPG_ERR_FULLY_CANCELED.
    private static let refusals: Set<UInt32> = [62, 99, 114, 198]

    /// The first `pinentry` of a search path; nil where there is none.
    static func find(in searchPath: String) -> String? {
        searchPath.split(separator: ":").map { "\($0)/pinentry" }
            .first { $0.hasPrefix("/") && access($0, X_OK) == 0 }
    }

    /// Asks; something new is asked for twice.
    func ask(_ question: SecretQuestion) throws(Failure) -> SecretBytes {
        guard let child = ChildProcess([program]) else { throw .unusable }
        Interruption.keepHelper(child.process)
        defer { Interruption.keepHelper(0) }
        let link = AssuanLink(
            input: child.input, output: child.output,
            timeoutMilliseconds: Self.lineMilliseconds)
        let answer: Result<SharedSecret, Failure>
        do throws(AssuanLink.Failure) {
            guard try link.greet() else { throw .broken }
            try introduce(question, to: link)
            answer = try question.isNew ? newSecret(question, from: link) : secret(from: link)
            _ = try link.command("BYE")
            _ = child.wait()
        } catch {
            throw error == .timedOut ? .cancelled : .unusable
        }
        return try answer.get().bytes.copy()
    }

    private func introduce(
        _ question: SecretQuestion, to link: AssuanLink
    ) throws(AssuanLink.Failure) {
        let options = [
            ("ttyname", display.terminal), ("ttytype", display.terminalType),
            ("lc-ctype", display.locale), ("lc-messages", display.locale),
        ]
        // What a pinentry does not know it may refuse; the question stands without it.
        for (name, value) in options {
            if let value { _ = try link.command("OPTION \(name)=\(PercentText.encode(value))") }
        }
        _ = try link.command("SETTIMEOUT \(Self.answerSeconds)")
        _ = try link.command("SETTITLE Coffer")
        _ = try link.command("SETDESC \(PercentText.encode(question.description))")
        _ = try link.command("SETPROMPT \(PercentText.encode(question.prompt)):")
    }

    private func secret(
        from link: AssuanLink
    ) throws(AssuanLink.Failure) -> Result<SharedSecret, Failure> {
        let reply = try link.command("GETPIN")
        return Self.result(of: reply)
    }

    /// A pinentry that has a second field says so in its answer; others are asked a second time.
    private func newSecret(
        _ question: SecretQuestion, from link: AssuanLink
    ) throws(AssuanLink.Failure) -> Result<SharedSecret, Failure> {
        let prompt = PercentText.encode(question.prompt)
        _ = try link.command("SETREPEAT \(prompt) again:")
        _ = try link.command("SETREPEATERROR The two entries differ.")
        for _ in 0..<Self.entryLimit {
            let first = try link.command("GETPIN")
            let isRepeated = first.status.contains("PIN_REPEATED")
            let result = Self.result(of: first)
            guard !isRepeated, case .success(let one) = result else { return result }
            _ = try link.command("SETPROMPT \(prompt) again:")
            guard case .success(let other) = Self.result(of: try link.command("GETPIN")) else {
                return .failure(.cancelled)
            }
            if one.bytes.isEqual(to: other.bytes) { return result }
            _ = try link.command("SETPROMPT \(prompt):")
            _ = try link.command("SETERROR The two entries differ.")
        }
        return .failure(.cancelled)
    }

    private static func result(of reply: borrowing AssuanLink.Reply) -> Result<
        SharedSecret, Failure
    > {
        guard reply.error == 0 else {
            return .failure(refusals.contains(reply.error & reasonMask) ? .cancelled : .unusable)
        }
        return .success(SharedSecret(reply.data.copy()))
    }
}
