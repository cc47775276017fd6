internal import Glibc
internal import Secrets

/// The controlling terminal, which is asked and told beside standard input and output.
final class Terminal {
    private let descriptor: Int32

    private static let path = "/dev/tty"
    private static let entryLimit = 3

    /// Nil for a process without a controlling terminal.
    init?() {
        descriptor = open(Self.path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// The device's own name where that can be told, for another program to open.
    var name: String {
        for standard in [STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO] {
            var name = [CChar](repeating: 0, count: 256)
            if ttyname_r(standard, &name, name.count) == 0 {
                return String(
                    decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
                    as: UTF8.self)
            }
        }
        return Self.path
    }

    /// Keeps its settings, for ``Interruption/restoreTerminal()``.
    func keepSettings() { Interruption.keepTerminal(descriptor) }

    /// Asks without echo; something new is asked for twice.
    func secret(_ question: SecretQuestion) throws(CommandFailure) -> SecretBytes {
        Output.line(question.description, to: descriptor)
        for _ in 0..<Self.entryLimit {
            let answer = try hiddenLine("\(question.prompt): ")
            guard question.isNew else { return answer }
            let again = try hiddenLine("\(question.prompt) again: ")
            if answer.isEqual(to: again) { return answer }
            Output.line("The two entries differ.", to: descriptor)
        }
        throw CommandFailure(.notConfirmed, "The two entries differed three times.")
    }

    /// Asks for a line that may be seen.
    func line(_ question: String) throws(CommandFailure) -> String {
        prompt("\(question) ")
        let answer = try readLine()
        return answer.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func hiddenLine(_ question: String) throws(CommandFailure) -> SecretBytes {
        Interruption.keepTerminal(descriptor)
        defer { Interruption.restoreTerminal() }
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            throw CommandFailure(.internalError, "The terminal does not tell its settings.")
        }
        settings.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK)
        settings.c_lflag |= tcflag_t(ECHONL | ICANON | ISIG)
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            // A stop would leave the shell without echo.
            characters[Int(VSUSP)] = 0
        }
        guard tcsetattr(descriptor, TCSAFLUSH, &settings) == 0 else {
            throw CommandFailure(.internalError, "The terminal does not switch its echo off.")
        }
        prompt(question)
        return try readLine()
    }

    private func prompt(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// One line without its line feed.
    private func readLine() throws(CommandFailure) -> SecretBytes {
        var buffer = SecretBytes(count: DescriptorInput.byteLimit + 1)
        var count = 0
        while count < buffer.count {
            let got = buffer.withMutableBytes { bytes in
                read(descriptor, bytes.baseAddress.map { $0 + count }, 1)
            }
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { break }
            if buffer.withBytes({ $0[count] == 0x0A }) { return buffer.slice(0..<count) }
            count += 1
        }
        guard count < buffer.count else {
            throw .usage("That is longer than \(DescriptorInput.byteLimit) bytes.")
        }
        throw CommandFailure(.cancelled)
    }
}
