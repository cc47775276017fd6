import Wire

/// How the code under test does what a vector's `op` names.
///
/// A handler answers with an outcome; an error that it throws is a fault of the vector or of the
/// handler and fails the case.
struct Operation: Sendable {
    /// The inputs that the handler knows; a case with another one fails.
    let inputs: [String]
    let run: @Sendable (JSONObject) throws -> Outcome
    /// Whether an answer is the expected one.
    let matches: @Sendable (_ expected: Value, _ answer: Value) -> Bool

    init(
        inputs: [String],
        matches: @escaping @Sendable (Value, Value) -> Bool = { $0.matches($1) },
        run: @escaping @Sendable (JSONObject) throws -> Outcome
    ) {
        self.inputs = inputs
        self.run = run
        self.matches = matches
    }

    /// Whether an answer is the outcome that was expected.
    func holds(_ expected: Outcome, _ answer: Outcome) -> Bool {
        switch (expected, answer) {
        case (.ok(let expected), .ok(let answer)): matches(expected, answer)
        case (.error(let expected), .error(let answer)): expected == answer
        default: false
        }
    }

    /// Every operation that this code has, by the vectors' name.
    ///
    /// Each area adds its own in a file of its own. An operation that is not here leaves its cases
    /// pending.
    static let all: [String: Operation] = [
        passcodeOperations,
        accessKeyOperations,
        mnemonicOperations,
        backupOperations,
        messageOperations,
        hierarchicalKeyOperations,
        tokenOperations,
        envelopeOperations,
        attemptOperations,
        credentialOperations,
        migrationOperations,
        archiveOperations,
    ].reduce(into: [:]) { all, more in
        all.merge(more) { _, _ in preconditionFailure("two handlers for one operation") }
    }
}
