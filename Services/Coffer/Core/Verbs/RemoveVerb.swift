internal import Tokens
internal import VaultMessages
internal import Wire

extension Verb {
    static let walletRemove = Verb(
        "wallet remove", arguments: [.required("WALLET")],
        options: [.namespace, .yes] + CommandOption.asking,
        summary: "Remove a wallet for good.",
        help: """
            Asks for the wallet's label or id as confirmation, unless --yes is given, and always \
            for the passcode. Without its phrase on paper the wallet is gone. WALLET is an id, \
            at least the first 8 characters of one, or a label; the whole id for a wallet whose \
            row in the store is damaged.
            """
    ) { run throws(CommandFailure) in
        let wallet = try run.confirmedWallet()
        let session = try run.verify(
            .settings, audience: [.walletVault], to: "remove the wallet")
        let caller = try run.caller()
        _ = try caller.change(
            RemoveWallet(namespace: try run.namespace(), wallet: wallet.id),
            key: caller.newKey(),
            token: session.token)
        return Report("The wallet is removed.\n\n\(wallet.table)") {
            $0.bool("removed", true)
            $0.identifier("wallet", wallet.id)
            $0.string("label", wallet.label)
        }
    }
}

/// What is to be removed.
private struct DoomedWallet {
    let id: WalletID
    /// Empty where the wallet cannot be read.
    let label: String
    let table: String

    /// What stands for it when it is confirmed.
    var name: String { label.isEmpty ? id.text : ShownText.printable(label) }

    init(_ wallet: WalletDescription) {
        id = wallet.wallet
        label = wallet.label
        table = wallet.table
    }

    /// One that cannot be read.
    init(_ id: WalletID) {
        self.id = id
        label = ""
        table = TextTable.lines([["wallet", id.text]])
    }
}

extension CommandRun {
    fileprivate func confirmedWallet() throws(CommandFailure) -> DoomedWallet {
        let wallet = try doomedWallet()
        guard !invocation.has(.yes) else { return wallet }
        let typed = try parts.person.line(
            "Type `\(wallet.name)` to remove the wallet for good:", insteadOf: .yes)
        guard typed == wallet.name || WalletChoice.fullID(typed) == wallet.id else {
            throw CommandFailure(.notConfirmed)
        }
        return wallet
    }

    private func doomedWallet() throws(CommandFailure) -> DoomedWallet {
        let listing = try listingToChooseFrom()
        let meant = invocation.arguments[0]
        if let id = WalletChoice.fullID(meant), listing.damaged.contains(id.text) {
            return DoomedWallet(id)
        }
        return DoomedWallet(try WalletChoice.find(meant, in: listing.wallets))
    }
}
