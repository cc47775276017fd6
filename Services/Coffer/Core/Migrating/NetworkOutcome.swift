internal import MigrationMessages
internal import VaultMessages
internal import Wire

/// What became of the wallets of one network.
struct NetworkOutcome {
    let network: WalletNetwork
    let namespace: Namespace
    /// Wallets that were looked at.
    var total: UInt64 = 0
    /// Wallets that were taken in, or verified.
    var succeeded: UInt64 = 0
    /// Of these, wallets that the vault had lost since they were taken in first.
    var again: UInt64 = 0
    var failed: UInt64 = 0
    /// The first of those that failed.
    var failures: [RunProgress.Failure] = []

    /// As in "Main network: 3 of 5 wallets taken in (namespace dash.mainnet).", for a person.
    func sentence(_ purpose: RunPurpose) -> String {
        let again = again > 0 ? ", \(again) of them again: the vault had lost them" : ""
        return
            "\(network.title): \(succeeded) of \(ShownText.count(total, "wallet", "wallets")) "
            + "\(purpose.participle) (namespace \(namespace.text))\(again)."
    }

    /// The failed wallets with their problems; nil where none failed.
    var failureTable: String? {
        guard failed > 0 else { return nil }
        var text = TextTable.lines(
            [["FAILED", "WHY"]]
                + failures.map { [ShownText.legacyID($0.id), $0.shown] })
        let count = UInt64(failures.count)
        if failed > count { text += "\nand \(failed - count) more" }
        return text
    }

    func write(to writer: inout JSONWriter) {
        writer.identifier("network", network)
        writer.identifier("namespace", namespace)
        writer.uint64("wallets", total)
        writer.uint64("succeeded", succeeded)
        writer.uint64("again", again)
        writer.uint64("failed", failed)
        writer.objects("failures", failures) { writer, failure in
            writer.string("id", failure.id)
            writer.identifier("problem", failure.problem)
            writer.optionalString("code", failure.code)
        }
    }
}
