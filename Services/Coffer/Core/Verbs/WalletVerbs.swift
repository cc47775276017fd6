internal import Secrets
internal import VaultMessages
internal import Wire

extension Verb {
    static let walletCreate = Verb(
        "wallet create", options: [.namespace, .label, .words] + CommandOption.asking,
        summary: "Make a wallet with a new phrase.",
        help: """
            The phrase is made inside the vault and is not shown; `coffer wallet reveal` shows it. \
            Uses the session of `coffer unlock`, else asks for the passcode.
            """
    ) { run throws(CommandFailure) in
        let words = run.invocation[.words] ?? "24"
        guard let count = Int(words), count == 12 || count == 24 else {
            throw .usage("--words wants 12 or 24.")
        }
        let request = CreateWallet(
            namespace: try run.namespace(), label: try run.label(), words: count)
        return try run.makeWallet(request, attachments: [], done: "made") { id in
            let advice =
                "The phrase exists nowhere else. `coffer wallet reveal \(id)` shows it to be "
                + "written down."
            guard run.wantsJSON else { return advice }
            run.note(advice)
            return nil
        }
    }

    static let walletImport = Verb(
        "wallet import",
        options: [.namespace, .label, .expect, .phraseDescriptor] + CommandOption.asking,
        summary: "Take in a wallet from its recovery phrase.",
        help: """
            Takes a BIP-39 phrase of 12, 15, 18, 21 or 24 English words. The phrase is asked for, \
            or read from --phrase-fd. With --expect the wallet must have that identity: its \
            compressed BIP-32 master public key, as `coffer wallet list --json` shows it.
            """
    ) { run throws(CommandFailure) in
        let expected = try run.expectedIdentity()
        let request = ImportWallet(
            namespace: try run.namespace(), label: try run.label(), walletKind: .bip39,
            expected: expected)
        // Nobody types a phrase for a vault that is not there.
        try run.caller().greet(.walletVault)
        let phrase = try run.secret(
            SecretQuestion(
                description: "Type the recovery phrase of the wallet, words with blanks between.",
                prompt: "Phrase", isNew: false, option: .phraseDescriptor))
        return try run.makeWallet(request, attachments: [phrase], done: "taken in")
    }

    static let walletList = Verb(
        "wallet list", options: [.namespace] + CommandOption.asking,
        summary: "List the wallets of a namespace.",
        help: """
            Uses the session of `coffer unlock`, else asks for the passcode. A wallet is \
            `unverified` until the vault has opened it once since its start; `coffer wallet check` \
            does so.
            """
    ) { run throws(CommandFailure) in
        let wallets = try run.withResource(to: "list wallets") {
            (token) throws(CommandFailure) in try run.wallets(token)
        }
        let rows = wallets.map { wallet in
            [
                String(wallet.wallet.text.prefix(8)), ShownText.printable(wallet.label),
                wallet.kind.text, String(wallet.words),
                wallet.verified ? "verified" : "unverified",
                String(Hex.encode(wallet.identity).prefix(16)),
            ]
        }
        let text =
            wallets.isEmpty
            ? "There are no wallets in namespace \(try run.namespace().text)."
            : TextTable.lines([["WALLET", "LABEL", "KIND", "WORDS", "STATE", "IDENTITY"]] + rows)
        return Report(text) { writer in
            writer.objects("wallets", wallets) { writer, wallet in wallet.write(to: &writer) }
        }
    }

    static let walletCheck = Verb(
        "wallet check", arguments: [.required("WALLET")],
        options: [.namespace] + CommandOption.asking,
        summary: "Open a wallet and compare its identity.",
        help: """
            Shows nothing secret. WALLET is an id, at least the first 8 characters of one, or a \
            label. Uses the session of `coffer unlock`, else asks for the passcode.
            """
    ) { run throws(CommandFailure) in
        let id = try run.walletID()
        let namespace = try run.namespace()
        let wallet = try run.withResource(to: "check a wallet") {
            (token) throws(CommandFailure) in
            try run.caller().call(CheckWallet(namespace: namespace, wallet: id), token: token)
                .reply
        }
        return Report("The wallet opens and its identity is right.\n\n\(wallet.table)", wallet)
    }
}

extension WalletDescription {
    /// For people.
    var table: String {
        TextTable.lines([
            ["wallet", wallet.text], ["label", ShownText.printable(label)], ["kind", kind.text],
            ["words", String(words)], ["identity", Hex.encode(identity)],
        ])
    }
}

extension CommandRun {
    /// The label that was given, checked before anything is asked or sent.
    fileprivate func label() throws(CommandFailure) -> String {
        let label = invocation[.label] ?? ""
        guard label.utf8.count <= 64, label.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .usage("--label wants at most 64 bytes without control characters.")
        }
        return label
    }

    fileprivate func expectedIdentity() throws(CommandFailure) -> [UInt8]? {
        guard let text = invocation[.expect] else { return nil }
        guard let bytes = Hex.decode(text.lowercased()), bytes.count == 33 else {
            throw .usage("--expect wants the 66 hexadecimal digits of a wallet's identity.")
        }
        return bytes
    }

    /// Makes a wallet.
    ///
    /// A key is of one session: where a kept one is not let in, the refusal is the outcome of its
    /// key, and the change is entered anew under the next.
    ///
    /// - Parameter advice: what to do about the wallet with this id.
    fileprivate func makeWallet<R: Request>(
        _ request: R, attachments: [SharedSecret], done: String,
        advice: (_ wallet: String) -> String? = { _ in nil }
    ) throws(CommandFailure) -> Report where R.Reply == WalletDescription {
        let caller = try caller()
        let changed = try withResource(to: "add a wallet") {
            (token) throws(CommandFailure) in
            try caller.change(
                request, key: caller.newKey(), token: token, attachments: attachments)
        }
        switch changed {
        case .answered(let wallet):
            let last = advice(wallet.wallet.text).map { "\n\n\($0)" } ?? ""
            return Report("The wallet is \(done).\n\n\(wallet.table)\(last)", wallet)
        case .done:
            let last = advice("ID").map { " \($0)" } ?? ""
            return Report("The wallet is \(done). `coffer wallet list` shows it.\(last)") {
                $0.bool("done", true)
            }
        }
    }
}
