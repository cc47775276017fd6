internal import VaultMessages
internal import Wire

/// Finds the wallet that a person means: by its id, the beginning of its id, or its
/// label.
enum WalletChoice {
    /// How much of an id stands for it.
    private static let prefixMinimum = 8

    /// The id of a text that is one in full, in letters of either case; nil for anything shorter.
    static func fullID(_ text: String) -> WalletID? { WalletID(text.uppercased()) }

    /// The one wallet that fits.
    ///
    /// - Throws: `vault.no_such_wallet`, or `coffer.ambiguous_wallet` where several fit: as ids, as
    ///   labels, or one as the one and another as the other.
    static func find(
        _ text: String, in wallets: [WalletDescription]
    ) throws(CommandFailure) -> WalletDescription {
        let prefix = text.uppercased()
        let isLong = prefix.utf8.count >= prefixMinimum
        let found = wallets.filter { wallet in
            wallet.label.utf8.elementsEqual(text.utf8) && !text.isEmpty
                || isLong && wallet.wallet.text.hasPrefix(prefix)
        }
        let isBeginning = wallets.contains { $0.wallet.text.hasPrefix(prefix) }
        if found.isEmpty, !isLong, isBeginning {
            var refusal = VaultFault.noSuchWallet.refusal
            refusal.message =
                "No wallet has this label, and an id wants at least \(prefixMinimum) of its "
                + "characters."
            throw CommandFailure(refusal, kind: .read)
        }
        return try only(found, text)
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

/// All wallets of a namespace.
struct WalletListing {
    var wallets: [WalletDescription] = []
    /// What names wallets that cannot be read.
    var damaged: [String] = []

    func write(to writer: inout JSONWriter) {
        writer.objects("wallets", wallets) { writer, wallet in wallet.write(to: &writer) }
        writer.strings("damaged", damaged)
    }
}

extension CommandRun {
    func listing(_ token: [UInt8]) throws(CommandFailure) -> WalletListing {
        let namespace = try namespace()
        var listing = WalletListing()
        while true {
            let page = try caller().call(
                ListWallets(namespace: namespace, after: listing.wallets.last?.wallet),
                token: token
            ).reply
            listing.wallets += page.wallets
            listing.damaged += page.damaged
            guard page.more, !page.wallets.isEmpty else { return listing }
        }
    }

    /// The id of the verb's argument, for answers that describe the wallet; the list is
    /// asked for only where the id is not whole.
    func walletID() throws(CommandFailure) -> WalletID {
        if let id = WalletChoice.fullID(invocation.arguments[0]) { return id }
        return try walletDescription().wallet
    }

    /// The wallet of the verb's argument, as the list has it.
    func walletDescription() throws(CommandFailure) -> WalletDescription {
        try WalletChoice.find(invocation.arguments[0], in: listingToChooseFrom().wallets)
    }

    func listingToChooseFrom() throws(CommandFailure) -> WalletListing {
        try withResource(to: "find the wallet") {
            (token) throws(CommandFailure) in try self.listing(token)
        }
    }
}
