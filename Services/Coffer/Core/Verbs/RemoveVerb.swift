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
            for the passcode. Without its phrase on paper the wallet is gone. WALLET is an id, the \
            beginning of one, or a label.
            """
    ) { run throws(CommandFailure) in
        let id = try run.confirmedWallet()
        let session = try run.verify(
            .settings, audience: [.walletVault], to: "remove the wallet")
        let caller = try run.caller()
        _ = try caller.change(
            RemoveWallet(namespace: try run.namespace(), wallet: id), key: caller.newKey(),
            token: session.token)
        return Report("The wallet is removed.") {
            $0.bool("removed", true)
            $0.identifier("wallet", id)
        }
    }
}

extension CommandRun {
    fileprivate func confirmedWallet() throws(CommandFailure) -> WalletID {
        guard !invocation.has(.yes) else { return try walletID() }
        let wallet = try walletDescription()
        let name = wallet.label.isEmpty ? wallet.wallet.text : ShownText.printable(wallet.label)
        let typed = try parts.person.line(
            "Type `\(name)` to remove the wallet for good:", insteadOf: .yes)
        guard typed == name || WalletChoice.fullID(typed) == wallet.wallet else {
            throw CommandFailure(.notConfirmed)
        }
        return wallet.wallet
    }
}
