internal import SharesMessages
internal import Tokens
internal import VaultMessages
internal import Wire

extension Verb {
    static let backupList = Verb(
        "backup list", options: [.namespace] + CommandOption.asking,
        summary: "List the splits of a namespace's wallets.",
        help: """
            A split that is not confirmed does not count as a backup: nobody knows that its files \
            were kept, or its record is of before `coffer owner reset` and no key vouches for it \
            any more. Where its three files were written they restore the wallet all the same. \
            Asks for the passcode.
            """
    ) { run throws(CommandFailure) in
        let splits = try run.splits()
        let rows = splits.map { split in
            [
                String(split.split.text.prefix(8)), split.wallet.kind.text,
                String(Hex.encode(split.wallet.identity).prefix(16)), ShownTime.text(split.made),
                split.confirmed ? "backup" : "not confirmed",
                split.shares.map(\.holder.text).joined(separator: ", "),
            ]
        }
        let heading = ["SPLIT", "KIND", "IDENTITY", "MADE", "STATE", "HOLDERS"]
        let text =
            splits.isEmpty
            ? "No wallet of namespace \(try run.namespace().text) is shared out."
            : TextTable.lines([heading] + rows)
        if splits.contains(where: { !$0.confirmed }) {
            run.note(
                "A split that is not confirmed was cut off, or is of before `coffer owner reset`. "
                    + "Where its three files were written they restore the wallet all the same; "
                    + "split the wallet anew to have a backup that counts.")
        }
        return Report(text) { writer in
            writer.objects("splits", splits) { writer, split in split.write(to: &writer) }
        }
    }

    static let backupRequest = Verb(
        "backup request", required: [.newFile], options: [.namespace] + CommandOption.asking,
        summary: "Begin a restoration, and write what the holders need for it.",
        help: """
            Makes a key pair whose private half stays sealed in this installation, and writes a \
            request file for the holders, who release their shares for it with `coffer holder \
            release`. Read the fingerprint to each of them by another way than you send the file. \
            `coffer backup restore` takes what they send back. Asks for the passcode.
            """
    ) { run throws(CommandFailure) in
        let path = run.invocation[.newFile] ?? ""
        try run.checkNew(path)
        let begun = try run.beginRestoration()
        let request = ReleaseRequest(
            restoration: begun.restoration, publicKey: begun.publicKey)
        do throws(CommandFailure) {
            try run.write(request.bytes, to: path)
        } catch {
            run.abandon(begun.restoration)
            throw error
        }
        let fingerprint = KeyFingerprint.text(of: begun.publicKey)
        let text = """
            \(path): what the holders need.

            \(TextTable.lines([
                ["restoration", begun.restoration.text], ["fingerprint", fingerprint],
            ]))

            Read the fingerprint to each holder before he releases his share.
            """
        return Report(text) { writer in
            begun.write(to: &writer)
            writer.string("fingerprint", fingerprint)
            writer.string("file", path)
        }
    }

    static let backupRequests = Verb(
        "backup requests", options: [.namespace] + CommandOption.asking,
        summary: "List restorations that were begun and not finished.",
        help: "Asks for the passcode. `coffer backup cancel` gives one up."
    ) { run throws(CommandFailure) in
        let namespace = try run.namespace()
        let restorations = try run.withResource(
            to: "list restorations", audience: [.backupShares]
        ) { (token) throws(CommandFailure) in
            try run.caller().call(ListRestorations(namespace: namespace), token: token).reply
                .restorations
        }
        let rows = restorations.map { entry in
            [
                entry.restoration.text, ShownTime.text(entry.begun),
                entry.intact ? "open" : "damaged",
                KeyFingerprint.text(of: entry.publicKey),
            ]
        }
        let text =
            restorations.isEmpty
            ? "No restoration is under way in namespace \(namespace.text)."
            : TextTable.lines([["RESTORATION", "BEGUN", "STATE", "FINGERPRINT"]] + rows)
        return Report(text) { writer in
            writer.objects("restorations", restorations) { writer, entry in
                entry.write(to: &writer)
                writer.string("fingerprint", KeyFingerprint.text(of: entry.publicKey))
            }
        }
    }

    static let backupCancel = Verb(
        "backup cancel", arguments: [.required("RESTORATION")],
        options: [.namespace] + CommandOption.asking,
        summary: "Give a restoration up.",
        help: """
            Its private key is erased: what was released for it opens nowhere any more. Asks for \
            the passcode.
            """
    ) { run throws(CommandFailure) in
        guard let id = RestorationID(run.invocation.arguments[0].lowercased()) else {
            throw .usage("RESTORATION wants the 32 hexadecimal digits of a restoration.")
        }
        let namespace = try run.namespace()
        let caller = try run.caller()
        _ = try run.withResource(to: "give a restoration up", audience: [.backupShares]) {
            (token) throws(CommandFailure) in
            try caller.change(
                AbandonRestoration(namespace: namespace, restoration: id),
                key: caller.newKey(), token: token)
        }
        return Report("The restoration is given up, and its key erased.") {
            $0.bool("cancelled", true)
            $0.identifier("restoration", id)
        }
    }
}

extension CommandRun {
    /// All splits of the namespace.
    fileprivate func splits() throws(CommandFailure) -> [Manifest] {
        let namespace = try namespace()
        return try withResource(to: "list backups", audience: [.backupShares]) {
            (token) throws(CommandFailure) in
            var splits: [Manifest] = []
            while true {
                let page = try caller().call(
                    ListSplits(namespace: namespace, after: splits.last?.split), token: token
                ).reply
                splits += page.splits
                guard page.more, !page.splits.isEmpty else { return splits }
            }
        }
    }

    /// A restoration that can be used.
    func beginRestoration() throws(CommandFailure) -> RestorationDescription {
        let namespace = try namespace()
        let caller = try caller()
        let changed = try withResource(
            to: "begin a restoration", audience: CommandRun.restoringAudience
        ) { (token) throws(CommandFailure) in
            try caller.change(
                BeginRestoration(namespace: namespace), key: caller.newKey(), token: token)
        }
        guard case .answered(let begun) = changed else {
            throw CommandFailure(
                .outcomeUnknown,
                "The restoration is begun, and what was said of it is lost. `coffer backup "
                    + "requests` shows it, `coffer backup cancel` gives it up.")
        }
        guard begun.intact else {
            throw CommandFailure(SharesFault.restorationDamaged.refusal, kind: .change)
        }
        return begun
    }

    /// Gives a restoration up that failed, as far as that can be done without asking anybody.
    func abandon(_ restoration: RestorationID) {
        guard let namespace = try? namespace(), let caller = try? caller(),
            let session = ownSessions.first(where: {
                $0.scope == .resource(namespace) && $0.audience.contains(.backupShares)
            })
        else { return }
        let request = AbandonRestoration(namespace: namespace, restoration: restoration)
        _ = try? caller.call(request, token: session.token, idempotency: caller.newKey())
    }

    /// The services that a restoration goes through, in one session.
    static var restoringAudience: [ServiceName] { [.walletVault, .backupShares] }
}
