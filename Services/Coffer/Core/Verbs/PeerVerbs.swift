internal import Bus
internal import Glibc
internal import Home
internal import Wire

extension Verb {
    static let peerAdd = Verb(
        "peer add", arguments: [.required("NAME")],
        required: [.role, .owners], options: [.publicKey, .certificate, .generate, .destroy],
        summary: "Let a program connect, and say what for.",
        help: """
            Writes an entry into the folder of peers; services see it at the next request. The \
            key comes from --public-key, from a certificate file of CZMQ or pyzmq, or is made: \
            --generate writes NAME.key and NAME.key_secret (0600) into a folder and overwrites \
            nothing. A file operation: no service is asked.
            """
    ) { run throws(CommandFailure) in
        let name = run.invocation.arguments[0]
        let folder = PeerFolder(path: try run.home(with: \.peersPath).peersPath)
        var entry = try run.peerEntry(name)
        let keys = try run.peerKey(name)
        entry.key = keys.key
        try CommandFailure.naming(.peerRefused) { () throws(PeerFolderError) in
            try folder.add(entry)
        }
        var text = "\(name) is admitted: \(entry.role.text) for \(ownersText(entry.owners))."
        if let path = keys.secretPath { text += "\nIts secret key: \(path)" }
        return Report(text) { writer in
            entry.write(to: &writer)
            writer.optionalString("secret_key_file", keys.secretPath)
        }
    }

    static let peerList = Verb(
        "peer list",
        summary: "List who may connect.",
        help: """
            Shows every entry of the folder of peers, and the files in it that admit nobody with \
            the reason; those end the command with 9.
            """
    ) { run throws(CommandFailure) in
        let folder = PeerFolder(path: try run.home(with: \.peersPath).peersPath)
        let listing = try CommandFailure.naming(.peerRefused) { () throws(PeerFolderError) in
            try folder.list()
        }
        let rows = listing.entries.map { entry in
            [
                entry.name, entry.role.text, ownersText(entry.owners),
                entry.mayDestroy ? "yes" : "no", entry.key.z85,
            ]
        }
        var text = TextTable.lines([["NAME", "ROLE", "OWNERS", "DESTROY", "KEY"]] + rows)
        for problem in listing.problems { text += "\nadmits nobody: \(problem)" }
        return Report(text, exitCode: listing.problems.isEmpty ? .done : .damaged) { writer in
            writer.objects("peers", listing.entries) { writer, entry in entry.write(to: &writer) }
            writer.strings("problems", listing.problems.map(\.description))
        }
    }

    static let peerRemove = Verb(
        "peer remove", arguments: [.required("NAME")], options: [.yes],
        summary: "Let a program connect no more.",
        help: """
            Removes the entry; the services refuse the peer's next request, on open connections \
            too. Its key pair stays where it is. The entry of a service of this installation is \
            removed only after a question, or with --yes: the other services need it, and \
            `coffer init` makes it again.
            """
    ) { run throws(CommandFailure) in
        let name = run.invocation.arguments[0]
        let folder = PeerFolder(path: try run.home(with: \.peersPath).peersPath)
        try run.confirmRemoval(of: name, from: folder)
        try CommandFailure.naming(.peerRefused) { () throws(PeerFolderError) in
            try folder.remove(name)
        }
        return Report("\(name) is admitted no more.") {
            $0.bool("removed", true)
            $0.string("name", name)
        }
    }
}

private func ownersText(_ owners: OwnerSet) -> String {
    owners == .some([]) ? "nobody" : owners.text
}

extension PeerEntry {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.string("name", name)
        writer.identifier("role", role)
        writer.identifier("owners", owners)
        writer.bool("destroy", mayDestroy)
        writer.identifier("public_key", key)
    }
}

extension CommandRun {
    /// Asks before the services of the installation are parted from one of their own.
    fileprivate func confirmRemoval(
        of name: String, from folder: PeerFolder
    ) throws(CommandFailure) {
        guard ServiceName(name) != nil, access("\(folder.path)/\(name).key", F_OK) == 0 else {
            return
        }
        let warning =
            "\(name) is a service of this installation. Without its entry the others refuse it: "
            + "wallets do not open, whatever the passcode. `coffer init` makes the entry again."
        guard !invocation.has(.yes) else { return note(warning) }
        let typed: String
        do throws(CommandFailure) {
            typed = try parts.person.line(
                "\(warning)\nType `\(name)` to remove it all the same:", insteadOf: .yes)
        } catch {
            // Where nobody is asked, nobody has read it.
            var failure = error
            failure.refusal.message = "\(warning) \(error.refusal.message)"
            throw failure
        }
        guard typed == name else { throw CommandFailure(.notConfirmed) }
    }

    /// What the options say of the peer; its key is put in later, because making one writes files.
    fileprivate func peerEntry(_ name: String) throws(CommandFailure) -> PeerEntry {
        guard let role = Role(invocation[.role] ?? "") else {
            throw .usage("--role wants app, extension, engine, operator or service:NAME.")
        }
        guard let owners = OwnerSet(invocation[.owners] ?? "") else {
            throw .usage("--owners wants `*`, or owners with commas.")
        }
        guard let noKey = PeerKey([UInt8](repeating: 0, count: PeerKey.byteCount)) else {
            throw CommandFailure(.internalError)
        }
        return PeerEntry(
            name: name, key: noKey, role: role, owners: owners,
            mayDestroy: invocation.has(.destroy))
    }

    fileprivate func peerKey(
        _ name: String
    ) throws(CommandFailure) -> (key: PeerKey, secretPath: String?) {
        let given = [CommandOption.publicKey, .certificate, .generate].filter(invocation.has)
        guard given.count == 1 else {
            throw .usage("Give one of --public-key, --certificate and --generate.")
        }
        if let text = invocation[.publicKey] {
            guard let key = PeerKey(text) else {
                throw .usage("--public-key wants the 40 letters of Z85.")
            }
            return (key, nil)
        }
        let folder = invocation[.generate] ?? ""
        let certificate = invocation[.certificate]
        return try CommandFailure.naming(.peerRefused) { () throws(CertificateError) in
            if let certificate { return (try CertificateFile.readPublic(certificate).key, nil) }
            return try KeyPairFiles.make(name: name, in: folder)
        }
    }
}
