/// A command line that is in order.
struct Invocation: Sendable {
    let verb: Verb
    /// The words after the verb.
    let arguments: [String]
    /// The options that were given, each with its values in their order; the empty text stands for
    /// one without a value.
    let values: [CommandOption: [String]]

    func has(_ option: CommandOption) -> Bool { values[option] != nil }

    /// The value, the first one where there are several.
    subscript(option: CommandOption) -> String? { values[option]?.first }

    /// The values of an option that may be given more than once.
    func all(_ option: CommandOption) -> [String] { values[option, default: []] }
}

/// What a command line asks for.
enum ParsedLine: Sendable {
    case run(Invocation)
    /// Nothing was asked.
    case nothing
    /// Help on a verb, on a group of verbs, or on all.
    case help(HelpTopic)
}
