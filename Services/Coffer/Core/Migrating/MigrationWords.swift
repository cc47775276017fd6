internal import MigrationMessages
internal import VaultMessages
internal import Wire

// What the migration says, in words for a person.

extension WalletClass {
    var shown: String {
        switch self {
        case .inLedger: "taken in"
        case .listed: "to take in"
        case .orphaned: "reset"
        case .undetermined: "unclear"
        case .unknownChain: "waits"
        }
    }
}

extension ClassReason {
    var shown: String {
        switch self {
        case .inLedger: "It was taken in before."
        case .missing: "It was taken in before, and the vault has it no longer."
        case .listedMainnet: "The app's list of the main network names it."
        case .listedTestnet: "The app's list of the test network names it."
        case .namedByNone: "No list names it: it was reset in the app. It stays in the source."
        case .unreadableList: "A list that cannot be read might name it."
        case .unsupportedChain: "Only the list of a network that is not supported names it."
        case .noList: "There is no list at all, so nobody can tell its network."
        }
    }

    /// What a person can do about a wallet that is not settled; nil where a run settles it, or
    /// where it is settled.
    var advice: String? {
        switch self {
        case .inLedger, .missing, .listedMainnet, .listedTestnet, .namedByNone: nil
        case .unreadableList:
            "Unclear wallets: make a new backup of the device, in which the lists can be read, and "
                + "apply that. What is taken in from it counts as taken in here too."
        case .unsupportedChain:
            "Wallets of another network wait in the source until a release supports it. Keep the "
                + "source; it is never changed."
        case .noList:
            "Without any list nothing is taken in: the source may be incomplete. Make a new backup "
                + "of the device and apply that."
        }
    }
}

extension LaunchState {
    var shown: String {
        switch self {
        case .absent: "absent: nothing holds up an app, which may offer its setup"
        case .pending: "pending: something is left, and an app must not offer its setup"
        case .unreadable: "unreadable: nobody can tell, and an app must not offer its setup"
        }
    }
}

extension ClassCounts {
    var isSettled: Bool { unsettled == 0 && damaged == 0 }

    /// Wallets that are not settled.
    var unsettled: UInt64 { listed + undetermined + unknownChain }

    var total: UInt64 { inLedger + orphaned + unsettled }

    /// What a person can do about rows that cannot be read; nil where there are none.
    var advice: String? {
        guard damaged > 0 else { return nil }
        return "\(ShownText.count(damaged, "row", "rows")) of the source cannot be read, and might "
            + "be a wallet or name one: make a new backup of the device and apply that."
    }

    /// What a person can know of wallets without a phrase; nil where there are none.
    var phraselessAdvice: String? {
        guard phraseless > 0 else { return nil }
        let wallets = ShownText.count(phraseless, "wallet", "wallets")
        return "The app's lists name \(wallets) more, of which the source has no phrase: removed "
            + "in the app, as a rule. Where you miss one, the source is not whole."
    }

    /// As in "5 wallets: 2 to take in, 3 reset", for a person.
    var shown: String {
        let parts = shownParts
        let head = ShownText.count(total, "wallet", "wallets")
        return parts.isEmpty ? head : "\(head): \(parts)"
    }

    /// What there is of each class.
    var shownParts: String {
        let classes: [(UInt64, WalletClass)] = [
            (inLedger, .inLedger), (listed, .listed), (orphaned, .orphaned),
            (undetermined, .undetermined), (unknownChain, .unknownChain),
        ]
        var parts = classes.filter { $0.0 > 0 }.map { "\($0.0) \($0.1.shown)" }
        if missing > 0 { parts.append("\(missing) of these not in the vault any more") }
        if damaged > 0 { parts.append(ShownText.count(damaged, "damaged row", "damaged rows")) }
        return parts.joined(separator: ", ")
    }
}

extension WalletProblem {
    var shown: String {
        switch self {
        case .phraseMissing: "The source has no phrase for it."
        case .phraseInvalid: "What the source has for it is no recovery phrase."
        case .otherWallet: "The phrase under its name is the phrase of another wallet."
        case .derivationsDiffer:
            "Its phrase gave two different seeds: this machine's memory or processor is faulty."
        case .vaultRefused: "The vault refused it."
        case .identityDiffers: "The vault has another wallet in its place."
        }
    }
}

extension RunProgress.Failure {
    /// The problem, with what the vault says where it is the vault's.
    var shown: String {
        guard let code else { return problem.shown }
        let meaning = KnownServices.meaning(of: code).map { "\($0) " } ?? ""
        return ShownText.printable("\(problem.shown) \(meaning)(\(code))")
    }
}

extension ShownText {
    /// The name that the app gave a wallet; an empty one is named as what it is.
    static func legacyID(_ id: String) -> String { id.isEmpty ? "(empty)" : printable(id) }
}

extension WalletNetwork {
    /// At the head of a line.
    var title: String {
        switch self {
        case .mainnet: "Main network"
        case .testnet: "Test network"
        }
    }

    /// Why a wallet of this network is to be taken in.
    var listedReason: ClassReason {
        switch self {
        case .mainnet: .listedMainnet
        case .testnet: .listedTestnet
        }
    }
}
