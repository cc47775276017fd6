internal import Glibc

/// The descriptors that a command line names.
///
/// They are looked at before anything is opened: what is opened later takes the free numbers, and
/// a closed descriptor would become one of the command's own.
struct NamedDescriptors {
    private let named: [(option: CommandOption, number: Int32)]

    private static let options: [CommandOption] = [
        .passcodeDescriptor, .newPasscodeDescriptor, .phraseDescriptor, .phraseOutDescriptor,
        .passphraseDescriptors, .pinDescriptor,
    ]

    /// - Throws: a usage failure where one is not open, where two are the same, or where the
    ///   phrase would stand among JSON.
    init(of invocation: Invocation) throws(CommandFailure) {
        var named: [(option: CommandOption, number: Int32)] = []
        for option in Self.options {
            for text in invocation.all(option) {
                named.append((option, try Self.number(text, named: option)))
            }
        }
        if invocation[.messageFile] == "-" { named.append((.messageFile, STDIN_FILENO)) }
        self.named = named
        try refuseSharing()
        if invocation.has(.json) { try refusePhraseInJSON() }
    }

    /// The number of an open descriptor.
    static func number(
        _ text: String, named option: CommandOption
    ) throws(CommandFailure) -> Int32 {
        guard let number = Int32(text), number >= 0, fcntl(number, F_GETFD) >= 0 else {
            throw .usage("\(option.name) wants the number of an open descriptor.")
        }
        return number
    }

    /// Keeps the numbers of standard input and outputs that are closed from becoming those of
    /// something else; reading or writing them fails as before.
    static func occupyStandard() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is this one.
            _ = open("/dev/null", (number == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }

    private func refuseSharing() throws(CommandFailure) {
        for (index, one) in named.enumerated() {
            guard let other = named[..<index].first(where: { $0.number == one.number }) else {
                continue
            }
            throw .usage(
                "\(one.option.name) and \(other.option.name) both name descriptor "
                    + "\(one.number).")
        }
    }

    private func refusePhraseInJSON() throws(CommandFailure) {
        let out = named.first { $0.option == .phraseOutDescriptor }
        guard out?.number != STDOUT_FILENO else {
            throw .usage("--phrase-out-fd 1 is where --json writes: give another descriptor.")
        }
    }
}
