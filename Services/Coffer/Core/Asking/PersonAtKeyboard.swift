internal import Glibc
internal import Secrets

/// Asks with pinentry where it is installed and has somewhere to show itself, else on the terminal.
struct PersonAtKeyboard: Person {
    /// Whether pinentry is left aside.
    let terminalOnly: Bool

    func secret(_ question: SecretQuestion) throws(CommandFailure) -> SecretBytes {
        var answer = try askPinentry(question)
        if answer == nil { answer = try askTerminal(question) }
        guard let answer else { throw question.nobodyToAsk }
        guard answer.bytes.count > 0 else { throw .usage("\(question.prompt): nothing was typed.") }
        guard answer.bytes.count <= DescriptorInput.byteLimit else {
            throw .usage(
                "\(question.prompt): longer than \(DescriptorInput.byteLimit) bytes.")
        }
        return answer.bytes.copy()
    }

    func line(
        _ question: String, insteadOf option: CommandOption
    ) throws(CommandFailure) -> String {
        guard let terminal = Terminal() else {
            throw .usage("There is no terminal to ask on for confirmation: give \(option.name).")
        }
        return try terminal.line(question)
    }

    /// Nil where pinentry cannot be used.
    private func askPinentry(_ question: SecretQuestion) throws(CommandFailure) -> SharedSecret? {
        guard !terminalOnly, let program = Pinentry.find(in: Self.variable("PATH") ?? "") else {
            return nil
        }
        // A terminal that is not the command's own belongs to somebody who did not start it.
        let terminal = Terminal()
        let hasScreen = Self.variable("DISPLAY") != nil || Self.variable("WAYLAND_DISPLAY") != nil
        guard terminal != nil || hasScreen else { return nil }
        terminal?.keepSettings()
        defer { Interruption.restoreTerminal() }
        let pinentry = Pinentry(
            program: program,
            display: Pinentry.Display(
                terminal: terminal?.name, terminalType: Self.variable("TERM"),
                locale: Self.variable("LC_ALL") ?? Self.variable("LC_CTYPE")
                    ?? Self.variable("LANG")))
        do throws(Pinentry.Failure) {
            return SharedSecret(try pinentry.ask(question))
        } catch {
            switch error {
            case .cancelled: throw CommandFailure(.cancelled)
            case .unusable: return nil
            }
        }
    }

    /// Nil where there is no terminal.
    private func askTerminal(_ question: SecretQuestion) throws(CommandFailure) -> SharedSecret? {
        guard let terminal = Terminal() else { return nil }
        return SharedSecret(try terminal.secret(question))
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
