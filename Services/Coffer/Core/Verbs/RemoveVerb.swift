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
            at least the first 8 characters of one, or a label.
            """
    ) { run throws(CommandFailure) in
        let wallet = try run.confirmedWallet()
        let session = try run.verify(
            .settings, audience: [.walletVault], to: "remove the wallet")
        let caller = try run.caller()
        _ = try caller.change(
            RemoveWallet(namespace: try run.namespace(), wallet: wallet.wallet),
            key: caller.newKey(),
            token: session.token)
        return Report("The wallet is removed.\n\n\(wallet.table)") {
            $0.bool("removed", true)
            $0.identifier("wallet", wallet.wallet)
            $0.string("label", wallet.label)
        }
    }
}

extension CommandRun {
    fileprivate func confirmedWallet() throws(CommandFailure) -> WalletDescription {
        let wallet = try walletDescription()
        guard !invocation.has(.yes) else { return wallet }
        let name = wallet.label.isEmpty ? wallet.wallet.text : ShownText.printable(wallet.label)
        let typed = try parts.person.line(
            "Type `\(name)` to remove the wallet for good:", insteadOf: .yes)
        guard typed == name || WalletChoice.fullID(typed) == wallet.wallet else {
            throw CommandFailure(.notConfirmed)
        }
        return wallet
    }
}
