internal import Secrets

/// What a person is asked for and must not be seen typing.
struct SecretQuestion: Sendable {
    /// A sentence above the question.
    let description: String
    /// One or two words, without a colon.
    let prompt: String
    /// Whether it is typed twice, as something new is.
    let isNew: Bool
    /// What gives the answer where nobody can be asked.
    let option: CommandOption
    /// Whether a session that `coffer unlock` keeps would have made it needless.
    var isSparedByUnlock = false

    /// Why it stays open where nobody can be asked.
    ///
    /// A passcode that is not there means that the owner is locked, and the command line may be in
    /// order; what is new has to come from somewhere.
    var nobodyToAsk: CommandFailure {
        let message = "\(description) There is no terminal to ask on: "
        let source = "\(option.name) N, an open descriptor to read from"
        guard option == .passcodeDescriptor, !isNew else {
            return .usage("\(message)give it with \(source).")
        }
        let way = isSparedByUnlock ? "run `coffer unlock` on one first, or give" : "give it with"
        return CommandFailure(.passcodeNeeded, "\(message)\(way) \(source).")
    }
}

/// The person at the keyboard.
protocol Person {
    /// Asks for a secret.
    ///
    /// - Throws: ``SecretQuestion/nobodyToAsk`` where there is nobody, `coffer.cancelled` where
    ///   the person will not say.
    func secret(_ question: SecretQuestion) throws(CommandFailure) -> SecretBytes

    /// Asks for a line that may be seen.
    ///
    /// - Parameter option: what makes the question needless.
    func line(_ question: String, insteadOf option: CommandOption) throws(CommandFailure) -> String
}
