internal import Home
internal import Wire

extension Verb {
    static let initialise = Verb(
        "init", options: [.run],
        summary: "Make the folders, keys and settings of an installation.",
        help: """
            Makes what is missing and overwrites nothing: folders (0700), a key pair for each \
            service and for this command, their entries in the folder of peers, and coffer.conf. \
            `deploy/launch up` calls it. This command's own entry lets it speak for owner `local`; \
            `coffer peer remove coffer` and `coffer peer add coffer …` change that.
            """
    ) { run throws(CommandFailure) in
        var maker = InstallationMaker(home: try run.home())
        try maker.make(runPath: run.invocation[.run])
        let made = maker.made
        let home = maker.home
        let text =
            made.isEmpty
            ? "\(home.path): nothing was missing."
            : "\(home.path): made\n" + made.map { "  \($0)" }.joined(separator: "\n")
        return Report(text) { writer in
            writer.string("home", home.path)
            writer.strings("made", made)
        }
    }
}
