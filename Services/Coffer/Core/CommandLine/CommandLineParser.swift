/// Reads a command line by the table of verbs.
///
/// Options may stand anywhere, as `--name value` or `--name=value`; after `--` all else is a word.
struct CommandLineParser {
    let verbs: [Verb]

    private struct Given {
        let name: String
        let inlineValue: String?
        var value: String?
    }

    /// - Throws: a usage failure with a suggestion where something looks misspelt.
    func parse(_ line: [String]) throws(CommandFailure) -> ParsedLine {
        var (words, given) = try split(line)
        if words.isEmpty, let index = given.firstIndex(where: { $0.name == "--version" }) {
            given.remove(at: index)
            words = Verb.version.words
        }
        let wantsHelp = given.contains { $0.name == CommandOption.help.name }
        guard let verb = verb(of: words) else {
            if wantsHelp { return .help(try topic(of: words)) }
            if words.isEmpty, given.allSatisfy({ $0.name == CommandOption.json.name }) {
                return .nothing
            }
            throw unknownVerb(words)
        }
        if wantsHelp { return .help(.verb(verb)) }
        // A mistyped option first: its value looks like a word too many.
        let values = try values(of: given, for: verb)
        let arguments = Array(words.dropFirst(verb.words.count))
        guard !arguments.contains("") else {
            throw .usage("A word of `coffer \(verb.name)` is empty.")
        }
        try check(arguments, of: verb)
        for option in verb.required where values[option] == nil {
            throw .usage(
                "`coffer \(verb.name)` wants \(option.name) \(option.placeholder ?? "").")
        }
        return .run(Invocation(verb: verb, arguments: arguments, values: values))
    }

    /// What `coffer help WORD…` is about.
    func topic(of words: [String]) throws(CommandFailure) -> HelpTopic {
        guard let first = words.first else { return .all }
        if let verb = verb(of: words), verb.words.count == words.count { return .verb(verb) }
        let group = verbs.filter { $0.group == first }
        guard !group.isEmpty, words.count == 1 else { throw unknownVerb(words) }
        return .group(first, group)
    }

    // MARK: Words and options

    private func split(_ line: [String]) throws(CommandFailure) -> ([String], [Given]) {
        let withValue = Set(
            verbs.flatMap(\.allOptions).filter { $0.placeholder != nil }.map(\.name))
        var words: [String] = []
        var given: [Given] = []
        var rest = line[...]
        while let word = rest.popFirst() {
            if word == "--" {
                words += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                words.append(word)
                continue
            }
            var option = Self.option(word)
            if option.inlineValue == nil, withValue.contains(option.name) {
                guard let value = rest.first, !value.hasPrefix("--") else {
                    throw .usage("\(option.name) wants a value.")
                }
                option.value = value
                rest.removeFirst()
            }
            given.append(option)
        }
        return (words, given)
    }

    private static func option(_ word: String) -> Given {
        if word == "-h" { return Given(name: CommandOption.help.name, inlineValue: nil) }
        guard let sign = word.firstIndex(of: "=") else {
            return Given(name: word, inlineValue: nil)
        }
        let value = String(word[word.index(after: sign)...])
        return Given(name: String(word[..<sign]), inlineValue: value, value: value)
    }

    private func values(
        of given: [Given], for verb: Verb
    ) throws(CommandFailure) -> [CommandOption: [String]] {
        var values: [CommandOption: [String]] = [:]
        for one in given {
            guard let option = verb.allOptions.first(where: { $0.name == one.name }) else {
                throw unknownOption(one.name, of: verb)
            }
            if option.placeholder == nil, one.inlineValue != nil {
                throw .usage("\(option.name) takes no value.")
            }
            if option.isPath, one.value?.isEmpty == true {
                throw .usage("\(option.name) wants a path, and it is empty.")
            }
            values[option, default: []].append(one.value ?? "")
            let count = values[option, default: []].count
            guard count <= option.countMax else {
                throw .usage(
                    count == 2
                        ? "\(option.name) is given twice."
                        : "\(option.name) is given more than \(option.countMax) times.")
            }
        }
        return values
    }

    // MARK: The verb and its arguments

    /// The longest verb that the words begin with.
    private func verb(of words: [String]) -> Verb? {
        verbs.filter { words.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
    }

    private func check(_ arguments: [String], of verb: Verb) throws(CommandFailure) {
        let required = verb.arguments.filter { $0.presence == .required }
        guard arguments.count >= required.count else {
            throw .usage(
                "`coffer \(verb.name)` wants \(required[arguments.count].name). "
                    + "Usage: \(HelpText.usage(of: verb))")
        }
        if verb.arguments.contains(where: { $0.presence == .any }) { return }
        guard arguments.count <= required.count else {
            throw .usage(
                "`coffer \(verb.name)` takes no further word "
                    + "`\(ShownText.printable(arguments[required.count]))`. "
                    + "Usage: \(HelpText.usage(of: verb))")
        }
    }

    // MARK: What is wrong, and what was meant

    /// A line without words.
    static let nothingAsked = CommandFailure.usage(
        "Say what to do: `coffer help` lists the verbs.")

    private func unknownVerb(_ words: [String]) -> CommandFailure {
        guard let first = words.first else { return Self.nothingAsked }
        let apart = words.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
        if apart.count > words.count, let verb = verb(of: apart) {
            return .usage(
                "Give the words of the verb apart, without quotes around them: "
                    + "`coffer \(verb.name)`.")
        }
        let group = verbs.filter { $0.group == first }.map(\.name)
        if !group.isEmpty, words.count == 1 {
            return .usage(
                "`coffer \(first)` wants one of: "
                    + group.map { String($0.dropFirst(first.count + 1)) }.joined(separator: ", ")
                    + ".")
        }
        let typed = words.prefix(2).joined(separator: " ")
        let names = verbs.map(\.name) + Set(verbs.compactMap(\.group)).sorted()
        let meant =
            Suggestion.nearest(to: typed, among: names)
            ?? Suggestion.nearest(to: first, among: names)
        return .usage(
            "There is no verb `\(ShownText.printable(typed))`." + Self.hint(meant)
                + " `coffer help` lists the verbs.")
    }

    private func unknownOption(_ name: String, of verb: Verb) -> CommandFailure {
        let meant = Suggestion.nearest(to: name, among: verb.allOptions.map(\.name))
        return .usage(
            "`coffer \(verb.name)` has no option `\(ShownText.printable(name))`."
                + Self.hint(meant) + " `coffer \(verb.name) --help` lists them.")
    }

    private static func hint(_ meant: String?) -> String {
        meant.map { " Did you mean `\($0)`?" } ?? ""
    }
}
