internal import MigrationMessages
internal import Wire

/// How a source stands after its wallets were taken in.
struct ApplyReport {
    let plan: SourcePlan
    let outcomes: [NetworkOutcome]
    /// After the runs.
    let counts: ClassCounts
    let launch: LaunchState

    var report: Report {
        Report(text, exitCode: counts.isSettled ? .done : .refused) { writer in
            writer.identifier("source", plan.source)
            writer.hex("digest", plan.digest)
            writer.bool("settled", counts.isSettled)
            writer.identifier("launch", launch)
            writer.object("counts") { counts.write(to: &$0) }
            writer.objects("networks", outcomes) { writer, outcome in outcome.write(to: &writer) }
            SourcePlan.write(plan.stuck, as: "stuck", to: &writer)
        }
    }

    private var text: String {
        let lines = outcomes.filter { $0.total > 0 }.map { $0.sentence(.apply) }
        var parts = lines.isEmpty ? [] : [lines.joined(separator: "\n")]
        parts += outcomes.compactMap(\.failureTable)
        if !plan.stuck.isEmpty { parts.append(SourcePlan.text(of: plan.stuck)) }
        parts += conclusion.map { ShownText.wrapped($0) }
        return parts.joined(separator: "\n\n")
    }

    private var conclusion: [String] {
        guard !counts.isSettled else {
            guard counts.total > 0 else {
                return [
                    "The source holds no wallet of the legacy Dash app. Where you expected one it "
                        + "is not the right file, or not whole: keep it."
                ]
            }
            return [
                "Every wallet of the source is settled (\(counts.shownParts)). The source was not "
                    + "changed; `coffer migrate verify` compares the vault with it."
            ]
        }
        var sentences = [
            "NOT settled: \(counts.unsettled) of "
                + "\(ShownText.count(counts.total, "wallet", "wallets")) (\(counts.shownParts)). "
                + "Keep the source; it was not changed."
        ]
        if counts.listed > 0 {
            sentences.append(
                "Wallets that failed are tried again by the next `coffer migrate apply`; what was "
                    + "taken in is not taken in twice.")
        }
        return sentences + plan.advice + [
            "Where nothing more can be done, `coffer migrate set-aside SOURCE` says so: what is "
                + "left then holds up no app."
        ]
    }
}

/// Whether the vault has what a source leads to.
struct VerifyReport {
    let source: SourcePath
    let digest: [UInt8]
    /// Of the source, before.
    let counts: ClassCounts
    let outcomes: [NetworkOutcome]

    private var failed: UInt64 { outcomes.reduce(0) { $0 + $1.failed } }
    private var total: UInt64 { outcomes.reduce(0) { $0 + $1.total } }

    /// Wallets that were taken into namespaces other than those that were looked at.
    private var elsewhere: UInt64 { counts.inLedger > total ? counts.inLedger - total : 0 }

    private var exitCode: ExitCode {
        guard failed == 0 else { return .damaged }
        return elsewhere == 0 ? .done : .refused
    }

    var report: Report {
        Report(text, exitCode: exitCode) { writer in
            writer.identifier("source", source)
            writer.hex("digest", digest)
            writer.bool("verified", exitCode == .done)
            writer.objects("networks", outcomes) { writer, outcome in outcome.write(to: &writer) }
        }
    }

    private var text: String {
        let lines = outcomes.filter { $0.total > 0 }.map { $0.sentence(.verify) }
        var parts = lines.isEmpty ? [] : [lines.joined(separator: "\n")]
        parts += outcomes.compactMap(\.failureTable)
        parts.append(ShownText.wrapped(conclusion))
        return parts.joined(separator: "\n\n")
    }

    private var conclusion: String {
        guard failed == 0 else {
            return "NOT verified: \(failed) of \(ShownText.count(total, "wallet", "wallets")). "
                + "Keep the source: it has the phrases. A wallet that the vault cannot open is "
                + "mended by putting the vault's store back, or by removing the wallet and taking "
                + "its phrase in anew."
        }
        guard elsewhere == 0 else {
            let wallets = ShownText.count(
                elsewhere, "wallet of the source was", "wallets of the source were")
            return
                "NOT verified: \(wallets) taken into another namespace. Give the right one to "
                + "--namespace or --testnet-namespace."
        }
        guard total > 0 else {
            return "Nothing of this source was taken in, so there is nothing to verify. "
                + "`coffer migrate apply` takes its wallets in."
        }
        let rest =
            counts.isSettled ? "" : " Not all of the source is settled: `coffer migrate plan`."
        return "The vault opens every wallet that was taken in, and each is the one that the "
            + "source leads to.\(rest)"
    }
}

/// What was migrated so far, and what is under way.
struct MigrationStatusReport {
    let status: AskMigrationStatus.Reply
    /// Of the run under way.
    let progress: RunProgress?

    var report: Report {
        Report(text) { writer in
            status.write(to: &writer)
            if let progress { writer.object("progress") { progress.write(to: &$0) } }
        }
    }

    private var text: String {
        var parts: [String] = []
        if status.sources.isEmpty {
            parts.append("No source was run over yet. `coffer migrate plan SOURCE` looks at one.")
        } else {
            parts.append(TextTable.lines(rows))
        }
        parts.append(
            "Taken in, of all sources: \(status.mainnet) of the main network, \(status.testnet) of "
                + "the test network.")
        if let run = status.running {
            let far = progress.map { ", \($0.done) of \($0.total) wallets" } ?? ""
            parts.append(
                "A run is under way (\(run.text)\(far)). `coffer migrate stop` stops it.")
        }
        return parts.joined(separator: "\n\n")
    }

    private var rows: [[String]] {
        [["SOURCE", "STATE", "WALLETS", "LAST RUN (UTC)", "FILE"]]
            + status.sources.map { source in
                [
                    String(Hex.encode(source.digest).prefix(SourcePlan.shownDigits)),
                    source.shownState, source.counts.shown, ShownText.moment(source.lastRun),
                    ShownText.printable(source.path),
                ]
            }
    }
}

extension AskMigrationStatus.Reply.Source {
    fileprivate var shownState: String {
        if done { return "done" }
        if setAside { return "set aside" }
        switch (deferredFailure, deferredUnknownChain) {
        case (true, true): return "failures, and wallets wait"
        case (true, false): return "failures"
        case (false, true): return "wallets wait"
        case (false, false): return "not done"
        }
    }
}
