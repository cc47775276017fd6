import MigrationMessages

/// The migration document's rules, in twelve rows: what it says of a keychain, said without looking
/// at the code under test.
///
/// The first of the rows of a wallet that fits decides its class. Each row of a run decides one
/// thing that the run leaves.
struct DocumentTable {
    /// What the document's words ask of one wallet.
    struct WalletFacts {
        let isInLedger: Bool
        let isNamedByReadableMainnet: Bool
        let isNamedByReadableTestnet: Bool
        let isNamedByReadableOther: Bool
        let thereAreLists: Bool
        let someListIsUnreadable: Bool
    }

    /// What they ask of a whole run.
    struct RunFacts {
        let canBeEnumerated: Bool
        /// Classes of the wallets when the run begins.
        let classes: [ClassReason]
        let someImportFails: Bool

        func has(_ walletClass: WalletClass) -> Bool {
            classes.contains { $0.walletClass == walletClass }
        }
    }

    struct WalletRow {
        let name: String
        let fits: (WalletFacts) -> Bool
        var reason: ClassReason
    }

    /// What a run leaves, or what the launch decision is.
    enum Finding: Hashable {
        case done(Bool)
        case deferredUnknownChain(Bool)
        case deferredFailure(Bool)
        case launch(LaunchState)
    }

    struct RunRow {
        let name: String
        let finds: (RunFacts) -> Finding?
        /// Set by the test that breaks a row: the finding in its place.
        var broken: Finding?

        func finding(_ facts: RunFacts) -> Finding? { finds(facts).map { broken ?? $0 } }
    }

    var walletRows: [WalletRow] = [
        WalletRow(name: "already in the success ledger", fits: \.isInLedger, reason: .inLedger),
        WalletRow(
            name: "on a readable mainnet list", fits: \.isNamedByReadableMainnet,
            reason: .listedMainnet),
        WalletRow(
            name: "on a readable testnet list", fits: \.isNamedByReadableTestnet,
            reason: .listedTestnet),
        WalletRow(
            name: "listed only by an unsupported chain", fits: \.isNamedByReadableOther,
            reason: .unsupportedChain),
        WalletRow(
            name: "no chain list exists at all", fits: { !$0.thereAreLists }, reason: .noList),
        WalletRow(
            name: "named by no readable list while some list is unreadable",
            fits: \.someListIsUnreadable, reason: .unreadableList),
        WalletRow(
            name: "every list read, none names it", fits: { _ in true }, reason: .namedByNone),
    ]

    var runRows: [RunRow] = [
        RunRow(
            name: "done only when every wallet migrated, was in the ledger, or is orphaned",
            finds: { run in
                .done(
                    run.canBeEnumerated && !run.someImportFails && !run.has(.unknownChain)
                        && !run.has(.undetermined))
            }),
        RunRow(
            name: "deferredUnknownChain for an unsupported chain or no list at all",
            finds: { .deferredUnknownChain($0.has(.unknownChain)) }),
        RunRow(
            name: "deferredFailure for an undetermined wallet or a failed import",
            finds: { run in
                // Of a keychain that cannot be enumerated the document does not say.
                run.canBeEnumerated
                    ? .deferredFailure(run.has(.undetermined) || run.someImportFails) : nil
            }),
        RunRow(
            name: "launch fails closed when it cannot enumerate, or only undetermined are left",
            finds: { run in
                let isOnlyUndetermined =
                    run.has(.undetermined) && !run.has(.listed) && !run.has(.unknownChain)
                return !run.canBeEnumerated || isOnlyUndetermined ? .launch(.unreadable) : nil
            }),
        RunRow(
            name: "launch is absent without a wallet that is listed or unresolved, else pending",
            finds: { run in
                if run.has(.listed) || run.has(.unknownChain) { return .launch(.pending) }
                return run.canBeEnumerated && !run.has(.undetermined) ? .launch(.absent) : nil
            }),
    ]
}
