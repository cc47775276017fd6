internal import Home
internal import Wire

extension Verb {
    static let version = Verb(
        "version", summary: "Print the version.", help: "All programs of Coffer have the same."
    ) { _ throws(CommandFailure) in
        Report("coffer \(Version.text)") { $0.string("version", Version.text) }
    }

    static let help = Verb(
        "help", arguments: [.any("VERB")],
        summary: "List the verbs, or explain one.",
        help: "With --json: the table of verbs, options and exit codes."
    ) { run throws(CommandFailure) in
        let topic = try CommandLineParser(verbs: run.verbs).topic(of: run.invocation.arguments)
        return HelpText.report(topic, verbs: run.verbs)
    }
}
