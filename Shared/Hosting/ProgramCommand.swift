internal import Home
internal import Wire

/// What a service's command line asks for.
enum ProgramCommand {
    case help
    case version
    case checkConfiguration(Home)
    case probe(Home, json: Bool)
    case purge(Home, Owner)
    case serve(Home)

    init(_ arguments: [String], program: String) throws(ProgramError) {
        var words: [String] = []
        var home = Home.fromEnvironment()
        var json = false
        var check = false
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h":
                self = .help
                return
            case "--version":
                self = .version
                return
            case "--json": json = true
            case "--check-config": check = true
            case "--home":
                guard let path = rest.popFirst(), path.hasPrefix("/") else {
                    throw .usage("--home wants an absolute path.")
                }
                home = Home(path: path)
            default: words.append(word)
            }
        }
        guard let home else { throw .usage("Set COFFER_HOME or give --home.") }
        switch (check, words) {
        case (true, []): self = .checkConfiguration(home)
        case (false, ["serve"]): self = .serve(home)
        case (false, ["probe"]): self = .probe(home, json: json)
        case (false, let words) where words.count == 2 && words[0] == "purge":
            guard let owner = Owner(words[1]) else { throw .usage("This is no owner's name.") }
            self = .purge(home, owner)
        default: throw .usage("Unknown command. Try `\(program) --help`.")
        }
    }

    static func help(program: String) -> String {
        """
        Usage: \(program) serve [--home DIR]
               \(program) probe [--json] [--home DIR]
               \(program) purge OWNER [--home DIR]
               \(program) --check-config [--home DIR]
               \(program) --version | --help

        serve           Run in the foreground, logging to standard error, until SIGTERM.
        probe           Ask the running service how it is; exit code 0 only when it is healthy.
        purge OWNER     With the service stopped: move all that it keeps of an owner into a file
                        beside its store.
        --check-config  Check settings, keys and folders without starting anything.

        The home is --home, else $COFFER_HOME, else $XDG_DATA_HOME/coffer, else
        ~/.local/share/coffer.

        Exit codes: 0 done, 1 failed or not healthy, 2 usage, 6 not reachable, 7 refused,
        9 damaged data.
        """
    }
}
