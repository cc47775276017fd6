internal import SharesMessages
internal import Tokens
internal import Wire

extension Verb {
    static let holderList = Verb(
        "holder list",
        summary: "List who keeps shares.",
        help: """
            Needs no passcode. What a holder reads from his own key, `coffer holder keygen` and \
            this list have to show as the same fingerprint.
            """
    ) { run throws(CommandFailure) in
        let holders = try run.caller().call(ListHolders()).reply.holders
        let rows = holders.map { holder in
            [
                holder.name.text, KeyFingerprint.text(of: holder.publicKey),
                ShownTime.text(holder.added),
            ]
        }
        let text =
            holders.isEmpty
            ? "There are no holders. `coffer holder add` takes one in."
            : TextTable.lines([["NAME", "FINGERPRINT", "ADDED"]] + rows)
        return Report(text) { writer in
            writer.objects("holders", holders) { writer, holder in
                holder.write(to: &writer)
                writer.string("fingerprint", KeyFingerprint.text(of: holder.publicKey))
            }
        }
    }

    static let holderAdd = Verb(
        "holder add", arguments: [.required("NAME")],
        options: [.keyPath, .holderKey] + CommandOption.asking,
        summary: "Take somebody in who is to keep shares.",
        help: """
            The key is his public one: the file that `coffer holder keygen` wrote beside his \
            private one, or its digits. Have him read its fingerprint to you before you split \
            a wallet: whoever has the private key reads the share. Always asks for the passcode.
            """
    ) { run throws(CommandFailure) in
        let name = try run.holderName()
        let key = try run.newHolderKey()
        let session = try run.verify(
            .settings, audience: [.backupShares], to: "take in a holder")
        let caller = try run.caller()
        _ = try caller.change(
            AddHolder(name: name, publicKey: key), key: caller.newKey(), token: session.token)
        let fingerprint = KeyFingerprint.text(of: key)
        return Report("\(name.text) may keep shares. Fingerprint of the key: \(fingerprint)") {
            $0.identifier("name", name)
            $0.hex("public_key", key)
            $0.string("fingerprint", fingerprint)
        }
    }

    static let holderRemove = Verb(
        "holder remove", arguments: [.required("NAME")], options: CommandOption.asking,
        summary: "Give somebody no more shares.",
        help: """
            The shares that he has stay what they are: split the wallets anew among others where \
            he must not help to restore them. Always asks for the passcode.
            """
    ) { run throws(CommandFailure) in
        let name = try run.holderName()
        let session = try run.verify(
            .settings, audience: [.backupShares], to: "remove a holder")
        let caller = try run.caller()
        _ = try caller.change(
            RemoveHolder(name: name), key: caller.newKey(), token: session.token)
        return Report("\(name.text) gets no more shares. Those that he has still count.") {
            $0.bool("removed", true)
            $0.identifier("name", name)
        }
    }
}

extension CommandRun {
    fileprivate func holderName() throws(CommandFailure) -> HolderName {
        guard let name = HolderName(invocation.arguments[0]) else {
            throw .usage("NAME wants 1 to 64 of A-Z a-z 0-9 . _ -, the first no dot.")
        }
        return name
    }

    fileprivate func newHolderKey() throws(CommandFailure) -> [UInt8] {
        switch (invocation[.keyPath], try publicKey(.holderKey)) {
        case (let path?, nil): return try publicHolderKey(path)
        case (nil, let key?): return key
        default: throw .usage("Give either --key FILE or --public-key KEY.")
        }
    }
}
