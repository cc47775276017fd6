internal import AuthorityMessages
internal import Tokens
internal import Wire

extension Verb {
    static let sessionList = Verb(
        "session list",
        summary: "List the owner's sessions, those of other programs too.",
        help: """
            Shows what each session opens, how it began, how long it lives and which peer holds \
            it. Needs no passcode; nobody can use a session by what is shown.
            """
    ) { run throws(CommandFailure) in
        let reply = try run.caller().call(ListSessions()).reply
        return Report(SessionTable.text(reply), reply)
    }

    static let sessionRevoke = Verb(
        "session revoke", arguments: [.required("SESSION")],
        summary: "End one of the owner's sessions.",
        help: """
            SESSION is an id from `coffer session list`, or the beginning of one that no other \
            session has. `coffer lock` ends all.
            """
    ) { run throws(CommandFailure) in
        let session = try run.session(named: run.invocation.arguments[0])
        let reply = try run.caller().call(EndSession(session: session)).reply
        let text = reply.revoked == 0 ? "It was over already." : "The session has ended."
        return Report(text, reply)
    }
}

extension CommandRun {
    fileprivate func session(named text: String) throws(CommandFailure) -> SessionID {
        if let id = SessionID(text) { return id }
        let listed = try caller().call(ListSessions()).reply.sessions
        let fitting = listed.filter { $0.session.text.hasPrefix(text) }
        guard fitting.count < 2 else {
            throw .usage("More than one session begins so. Give more of the id.")
        }
        guard let one = fitting.first else { throw .usage("No session that lives begins so.") }
        return one.session
    }
}

/// Sessions as a person reads them.
private enum SessionTable {
    static func text(_ reply: ListSessions.Reply) -> String {
        guard !reply.sessions.isEmpty else { return "No session lives." }
        let rows = reply.sessions.map { entry in
            [
                entry.session.text, scope(entry.scope), entry.origin.text,
                left(entry), ShownText.printable(entry.peer),
            ]
        }
        let table = TextTable.lines([["SESSION", "OPENS", "ORIGIN", "LIVES", "PEER"]] + rows)
        guard reply.more > 0 else { return table }
        return table + "\nand \(ShownText.count(UInt64(reply.more), "other", "others"))"
    }

    private static func left(_ entry: ListSessions.Entry) -> String {
        let seconds = ShownText.seconds(entry.remainingMilliseconds)
        return entry.lifetime == .ownerManaged ? "\(seconds), renewed" : seconds
    }

    private static func scope(_ scope: Scope) -> String {
        switch scope {
        case .appUnlock: "app lock"
        case .managePasscode: "passcode"
        case .settings: "settings"
        case .recover: "recovery"
        case .resource(let namespace): "namespace \(namespace.text)"
        case .sign(let namespace, let wallet): "a signature of \(wallet.text) (\(namespace.text))"
        case .reveal(let namespace, let wallet): "the phrase of \(wallet.text) (\(namespace.text))"
        }
    }
}
