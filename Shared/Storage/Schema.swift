/// The shape of a store, as the ordered list of steps that lead to it.
///
/// The file remembers in `PRAGMA user_version` how many steps it has taken; opening takes the rest,
/// in one transaction. A released step is never edited, removed or moved: a change is a new step.
public struct Schema: Sendable {
    let steps: [SchemaStep]

    /// A schema of these steps, oldest first, each with a name of its own.
    public init(steps: [SchemaStep]) {
        precondition(
            Set(steps.map(\.name.description)).count == steps.count, "two schema steps of one name")
        self.steps = steps
    }

    /// The `user_version` of a file that has taken every step.
    public var version: Int { steps.count }
}

/// One step of a schema: a name for people and the statements, one each.
public struct SchemaStep: Sendable {
    /// What the step does, in a few words.
    public let name: StaticString
    let statements: [StaticString]

    /// A step that runs these statements in order.
    public init(_ name: StaticString, _ statements: StaticString...) {
        self.name = name
        self.statements = statements
    }
}
