internal import VaultMessages
internal import Wire

/// Finds the wallet that a person means: by its id, the beginning of its id, or its label.
enum WalletChoice {
    /// The id of a text that is one in full, in letters of either case; nil for anything shorter.
    static func fullID(_ text: String) -> WalletID? { WalletID(text.uppercased()) }

    /// The one wallet that fits.
    ///
    /// A label that is exactly what was typed comes before the beginning of an id.
    ///
    /// - Throws: `vault.no_such_wallet`, or `coffer.ambiguous_wallet` where several fit.
    static func find(
        _ text: String, in wallets: [WalletDescription]
    ) throws(CommandFailure) -> WalletDescription {
        if let id = fullID(text) {
            return try only(wallets.filter { $0.wallet == id }, text)
        }
        let labelled = wallets.filter { $0.label.utf8.elementsEqual(text.utf8) }
        guard labelled.isEmpty else { return try only(labelled, text) }
        let prefix = text.uppercased()
        guard !prefix.isEmpty else { return try only([], text) }
        return try only(wallets.filter { $0.wallet.text.hasPrefix(prefix) }, text)
    }

    private static func only(
        _ found: [WalletDescription], _ text: String
    ) throws(CommandFailure) -> WalletDescription {
        guard let first = found.first else {
            throw CommandFailure(VaultFault.noSuchWallet.refusal, kind: .read)
        }
        guard found.count == 1 else {
            let ids = found.map(\.wallet.text).sorted().joined(separator: ", ")
            throw CommandFailure(
                .ambiguousWallet,
                "\(found.count) wallets fit `\(ShownText.printable(text))`: \(ids).")
        }
        return first
    }
}

extension CommandRun {
    /// All wallets of the namespace.
    func wallets(_ token: [UInt8]) throws(CommandFailure) -> [WalletDescription] {
        let namespace = try namespace()
        var wallets: [WalletDescription] = []
        while true {
            let page = try caller().call(
                ListWallets(namespace: namespace, after: wallets.last?.wallet), token: token
            ).reply
            wallets += page.wallets
            guard page.more, !page.wallets.isEmpty else { return wallets }
        }
    }

    /// The wallet of the verb's argument; the list is asked for only where the id is not whole.
    func walletID() throws(CommandFailure) -> WalletID {
        if let id = WalletChoice.fullID(invocation.arguments[0]) { return id }
        return try walletDescription().wallet
    }

    /// The wallet of the verb's argument, as the list has it.
    func walletDescription() throws(CommandFailure) -> WalletDescription {
        let wallets = try withResource(to: "find the wallet") {
            (token) throws(CommandFailure) in try self.wallets(token)
        }
        return try WalletChoice.find(invocation.arguments[0], in: wallets)
    }
}
