internal import Home
internal import Wire

/// What a service's command line asks for.
enum ProgramCommand {
    case help
    case version
    case checkConfiguration(Home)
    case probe(Home, json: Bool)
    case purge(Home, Owner)
    /// A folder with a store.
    case settle(String)
    /// A folder with a store, and the one that it takes the place of.
    case arrive(String, over: String?)
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
        case (false, let words) where words.count == 2 && words[0] == "settle":
            self = .settle(try Self.folder(words[1]))
        case (false, let words) where 2...3 ~= words.count && words[0] == "arrive":
            self = .arrive(
                try Self.folder(words[1]),
                over: try words.count > 2 ? Self.folder(words[2]) : nil)
        default: throw .usage("Unknown command. Try `\(program) --help`.")
        }
    }

    private static func folder(_ word: String) throws(ProgramError) -> String {
        guard word.hasPrefix("/") else { throw .usage("A folder wants an absolute path.") }
        return word
    }

    static func help(program: String) -> String {
        """
        Usage: \(program) serve [--home DIR]
               \(program) probe [--json] [--home DIR]
               \(program) purge OWNER [--home DIR]
               \(program) settle FOLDER
               \(program) arrive FOLDER [PRESENT]
               \(program) --check-config [--home DIR]
               \(program) --version | --help

        serve           Run in the foreground, logging to standard error, until SIGTERM.
        probe           Ask the running service how it is; exit code 0 only when it is healthy.
        purge OWNER     With the service stopped: move all that it keeps of an owner into a file
                        beside its store.
        settle FOLDER   For `coffer state`, which has locked the folder: check the store in it,
                        bring it up to date, and leave all of it in the one file.
        arrive FOLDER   The same for a store that comes from elsewhere and is to take the place of
                        the one in PRESENT. The limiter lowers no count by it.
        --check-config  Check settings, keys and folders without starting anything.

        The home is --home, else $COFFER_HOME, else $XDG_DATA_HOME/coffer, else
        ~/.local/share/coffer.

        Exit codes: 0 done, 1 failed or not healthy, 2 usage, 6 not reachable, 7 refused,
        9 damaged data.
        """
    }
}
