internal import Secrets
internal import VaultMessages
internal import Wire

extension Verb {
    static let walletCreate = Verb(
        "wallet create", options: [.namespace, .label, .words] + CommandOption.asking,
        summary: "Make a wallet with a new phrase.",
        help: """
            The phrase is one of BIP-39, made inside the vault and not shown; `coffer wallet \
            reveal` shows it. A wallet of another kind is made by its own program and taken in by \
            `coffer wallet import`. Uses the session of `coffer unlock`, else asks for the passcode.
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
        options: [.walletKind, .network, .namespace, .label, .expect, .phraseDescriptor]
            + CommandOption.asking,
        summary: "Take in a wallet from its recovery phrase.",
        help: """
            The phrase is asked for, or read from --phrase-fd. bip39 and dash take a BIP-39 phrase \
            of 12, 15, 18, 21 or 24 English words; ton takes the 24 words of a TON wallet without \
            a password; ton-rotation takes one BIP-39 phrase of 12 words, or two of them one \
            after the other. With --expect the wallet must have that identity, as `coffer wallet \
            list --json` shows it: for bip39 its compressed BIP-32 master public key, for dash its \
            SDK id on the network, for the TON kinds the Ed25519 public key that it signs with.
            """
    ) { run throws(CommandFailure) in
        let kind = try run.walletKind()
        let request = ImportWallet(
            namespace: try run.namespace(), label: try run.label(), walletKind: kind,
            network: try run.network(of: kind), expected: try run.expectedIdentity(of: kind))
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
            does so. A wallet whose row in the store cannot be read is named apart.
            """
    ) { run throws(CommandFailure) in
        let listing = try run.withResource(to: "list wallets") {
            (token) throws(CommandFailure) in try run.listing(token)
        }
        for name in listing.damaged {
            run.note(
                "\(ShownText.printable(name)) cannot be read: its row in the store is damaged. "
                    + "Put the store back from a copy; `coffer wallet remove` takes its id.")
        }
        let nothing = "There are no wallets in namespace \(try run.namespace().text)."
        return Report(listing.table ?? nothing) { listing.write(to: &$0) }
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
        var rows = [
            ["wallet", wallet.text], ["label", ShownText.printable(label)], ["kind", kind.text],
        ]
        if let network { rows.append(["network", network.text]) }
        rows += [["words", String(words)], ["identity", Hex.encode(identity)]]
        return TextTable.lines(rows)
    }
}

extension WalletListing {
    /// For people; nil where there is nothing to show.
    fileprivate var table: String? {
        guard !wallets.isEmpty else { return nil }
        let head = ["WALLET", "LABEL", "KIND", "NETWORK", "WORDS", "STATE", "IDENTITY"]
        let rows = wallets.map { wallet in
            [
                String(wallet.wallet.text.prefix(8)), ShownText.printable(wallet.label),
                wallet.kind.text, wallet.network?.text ?? "-", String(wallet.words),
                wallet.verified ? "verified" : "unverified",
                String(Hex.encode(wallet.identity).prefix(16)),
            ]
        }
        return TextTable.lines([head] + rows)
    }
}

extension CommandRun {
    /// The label that was given, checked before anything is asked or sent.
    func label() throws(CommandFailure) -> String {
        let label = invocation[.label] ?? ""
        guard WalletLabel.isValid(label) else {
            throw .usage(
                "--label wants at most \(WalletLabel.byteLimit) bytes without control characters "
                    + "and without characters that turn the direction of writing.")
        }
        return label
    }

    fileprivate func walletKind() throws(CommandFailure) -> WalletKind {
        guard let text = invocation[.walletKind] else { return .bip39 }
        guard let kind = WalletKind(text) else {
            throw .usage("--kind wants bip39, dash, ton or ton-rotation.")
        }
        return kind
    }

    /// The network, which wallets of some kinds have and others must not.
    func network(of kind: WalletKind) throws(CommandFailure) -> WalletNetwork? {
        guard kind.hasNetwork else {
            guard !invocation.has(.network) else {
                throw .usage("A wallet of kind \(kind.text) has no network: leave --network out.")
            }
            return nil
        }
        guard let network = WalletNetwork(invocation[.network] ?? "") else {
            throw .usage("A wallet of kind \(kind.text) wants --network mainnet or testnet.")
        }
        return network
    }

    /// The identity that the wallet must have; of any kind where that is not known.
    func expectedIdentity(of kind: WalletKind?) throws(CommandFailure) -> [UInt8]? {
        guard let text = invocation[.expect] else { return nil }
        let kinds = kind.map { [$0] } ?? WalletKind.allCases
        let counts = Set(kinds.map(\.identityBytes))
        guard let bytes = Hex.decode(text.lowercased()), counts.contains(bytes.count) else {
            let digits = counts.sorted().map { String($0 * 2) }.joined(separator: " or ")
            throw .usage(
                "--expect wants the \(digits) hexadecimal digits of the identity of a "
                    + "\(kind.map { "\($0.text) " } ?? "")wallet.")
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
