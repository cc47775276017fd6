extension Verb {
    static let stateExport = Verb(
        "state export", required: [.newFile], options: [.statePassphrase, .noPinentry],
        summary: "With the services stopped, write their stores into one sealed file.",
        help: """
            For moving house, or as a copy of everything at one moment: wallets, passcodes, \
            attempts, holders, restorations, and what was migrated. Not in it are this machine's \
            own things: keys of services and of this command, the entries of peers, settings. \
            The passphrase is asked for twice, or read once from --passphrase-fd. It alone \
            protects the file: take a long one. Nothing in the home changes.
            """
    ) { run throws(CommandFailure) in try StateExport(run).report() }

    static let stateImport = Verb(
        "state import", arguments: [.required("FILE")],
        options: [.yes, .statePassphrase, .noPinentry],
        summary: "With the services stopped, put an exported state in the place of this one.",
        help: """
            For a home that `coffer init` made. A state that is there already is moved aside as a \
            whole, after a question, unless --yes is given. All of it is done or nothing. No \
            count of wrong passcodes is lowered by it: every owner has tried six times or more, \
            and waits a minute for the next try.
            """
    ) { run throws(CommandFailure) in try StateImport(run).report() }
}
