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
}

/// The person at the keyboard.
protocol Person {
    /// Asks for a secret.
    ///
    /// - Throws: a usage failure where nobody can be asked, `coffer.cancelled` where the person
    ///   will not say.
    func secret(_ question: SecretQuestion) throws(CommandFailure) -> SecretBytes

    /// Asks for a line that may be seen.
    ///
    /// - Parameter option: what makes the question needless.
    func line(_ question: String, insteadOf option: CommandOption) throws(CommandFailure) -> String
}
