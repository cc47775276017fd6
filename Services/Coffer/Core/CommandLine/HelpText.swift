internal import Wire

/// What help is asked about.
enum HelpTopic: Sendable {
    case all
    case group(String, [Verb])
    case verb(Verb)
}

/// The help, made from the table of verbs.
enum HelpText {
    static func text(_ topic: HelpTopic, verbs: [Verb]) -> String {
        switch topic {
        case .all: overview(verbs)
        case .group(let name, let verbs):
            "Usage: coffer \(name) VERB [OPTION…]\n\n\(list(verbs))\n\n"
                + "`coffer \(name) VERB --help` explains one."
        case .verb(let verb): page(verb)
        }
    }

    /// The help, with the verbs that it is about as JSON.
    static func report(_ topic: HelpTopic, verbs: [Verb]) -> Report {
        Report(text(topic, verbs: verbs)) { writer in
            switch topic {
            case .all: write(verbs, to: &writer)
            case .group(_, let verbs): write(verbs, to: &writer)
            case .verb(let verb): write([verb], to: &writer)
            }
        }
    }

    /// What a line that asks nothing is told, as wrong usage.
    ///
    /// - Throws: in JSON, where programs look for `error` and not for a list of verbs.
    static func reportOfNothing(
        asJSON: Bool, verbs: [Verb]
    ) throws(CommandFailure) -> Report {
        guard !asJSON else { throw CommandLineParser.nothingAsked }
        var report = report(.all, verbs: verbs)
        report.exitCode = .usage
        return report
    }

    /// One line: the verb, its arguments, its options.
    static func usage(of verb: Verb) -> String {
        let arguments = verb.arguments.map { argument in
            switch argument.presence {
            case .required: argument.name
            case .any: "[\(argument.name)…]"
            }
        }
        let options =
            verb.required.map(heading)
            + verb.options.map { "[\(heading($0))]\($0.countMax > 1 ? "…" : "")" }
        return (["coffer", verb.name] + arguments + options).joined(separator: " ")
    }

    /// The table as JSON, so that documentation can be held to it.
    static func write(_ verbs: [Verb], to writer: inout JSONWriter) {
        writer.objects("verbs", verbs) { writer, verb in
            writer.string("name", verb.name)
            writer.string("usage", usage(of: verb))
            writer.string("summary", verb.summary)
            write(verb.required, as: "required_options", to: &writer)
            write(verb.options, as: "options", to: &writer)
        }
        write(CommandOption.common, as: "common_options", to: &writer)
        writer.objects("exit_codes", ExitCode.allCases) { writer, code in
            writer.integer("code", Int(code.rawValue))
            writer.string("meaning", code.meaning)
        }
    }

    private static func write(
        _ options: [CommandOption], as key: String, to writer: inout JSONWriter
    ) {
        writer.objects(key, options) { writer, option in
            writer.string("name", option.name)
            writer.optionalString("value", option.placeholder)
            writer.string("summary", option.summary)
        }
    }

    private static func overview(_ verbs: [Verb]) -> String {
        """
        Coffer keeps wallet secrets behind a passcode.

        Usage: coffer VERB [OPTION…]

        \(list(verbs))

        Options of every verb:
        \(list(CommandOption.common))

        Passcodes and phrases are asked for with pinentry or on the terminal, or read from a
        descriptor that an option names; never from arguments or the environment.

        \(exitCodes())

        `coffer VERB --help` explains a verb.
        """
    }

    private static func page(_ verb: Verb) -> String {
        var text = "Usage: \(usage(of: verb))\n\n\(verb.summary)\n\n"
        text += ShownText.wrapped(verb.help) + "\n"
        if !verb.ownOptions.isEmpty { text += "\nOptions:\n\(list(verb.ownOptions))\n" }
        return text + "\nOptions of every verb:\n\(list(CommandOption.common))"
    }

    private static func list(_ verbs: [Verb]) -> String {
        indented(TextTable.lines(verbs.map { [$0.name, $0.summary] }))
    }

    private static func list(_ options: [CommandOption]) -> String {
        indented(TextTable.lines(options.map { [heading($0), $0.summary] }))
    }

    private static func exitCodes() -> String {
        "Exit codes:\n"
            + indented(
                TextTable.lines(ExitCode.allCases.map { [String($0.rawValue), $0.meaning] }))
    }

    private static func heading(_ option: CommandOption) -> String {
        option.placeholder.map { "\(option.name) \($0)" } ?? option.name
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "  " + $0 }
            .joined(separator: "\n")
    }
}
