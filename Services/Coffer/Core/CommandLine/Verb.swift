/// One thing that the command can do: all that the parser, the help and the shell need to know.
struct Verb: Sendable {
    /// A word that follows the verb.
    struct Argument: Equatable, Sendable {
        enum Presence: Sendable {
            case required
            /// Any number of words, none included.
            case any
        }

        let name: String
        let presence: Presence

        static func required(_ name: String) -> Argument {
            Argument(name: name, presence: .required)
        }

        static func any(_ name: String) -> Argument { Argument(name: name, presence: .any) }
    }

    /// One or two words, with a blank between.
    let name: String
    let arguments: [Argument]
    /// Options that must be given.
    let required: [CommandOption]
    /// Options that may be given, beside ``CommandOption/common``.
    let options: [CommandOption]
    /// One line.
    let summary: String
    /// What a person should know before using it.
    let help: String
    let run: @Sendable (CommandRun) throws(CommandFailure) -> Report

    init(
        _ name: String, arguments: [Argument] = [], required: [CommandOption] = [],
        options: [CommandOption] = [], summary: String, help: String,
        run: @escaping @Sendable (CommandRun) throws(CommandFailure) -> Report
    ) {
        self.name = name
        self.arguments = arguments
        self.required = required
        self.options = options
        self.summary = summary
        self.help = help
        self.run = run
    }

    var words: [String] { name.split(separator: " ").map(String.init) }

    /// The word that its group shares, as `wallet` in `wallet list`; nil for a verb of one word.
    var group: String? { words.count > 1 ? words[0] : nil }

    /// Those of this verb alone, in the order of the help.
    var ownOptions: [CommandOption] { required + options }

    var allOptions: [CommandOption] { ownOptions + CommandOption.common }
}
