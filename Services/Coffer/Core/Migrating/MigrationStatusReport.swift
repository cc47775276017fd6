internal import MigrationMessages
internal import Wire

/// How a source that was run over stands now.
enum SourceNow {
    case same(PlanMigration.Reply)
    /// Another file is at its path.
    case another
    /// The service cannot read it any more.
    case unreadable
    /// Nobody looked.
    case unknown

    /// Of how many sources, the last ones, it is looked at what is so now.
    static let limit = 8

    /// Follows the path.
    var shownNote: String {
        switch self {
        case .same: ""
        case .another: " (another file now)"
        case .unreadable: " (cannot be read now)"
        case .unknown: " (not looked at)"
        }
    }

    fileprivate var word: String {
        switch self {
        case .same: "same"
        case .another: "another"
        case .unreadable: "unreadable"
        case .unknown: "unknown"
        }
    }
}

/// What is migrated as of now, and what is under way.
struct MigrationStatusReport {
    let status: AskMigrationStatus.Reply
    /// For each source of the status.
    let now: [SourceNow]
    /// Of the run under way.
    let progress: RunProgress?

    var report: Report {
        Report(text) { writer in
            writer.objects("sources", Array(zip(status.sources, now))) { writer, entry in
                let (source, now) = entry
                source.write(to: &writer)
                writer.string("file", now.word)
                if case .same(let page) = now {
                    writer.identifier("launch", page.launch)
                    writer.object("counts_now") { page.counts.write(to: &$0) }
                }
            }
            writer.uint64("mainnet", status.mainnet)
            writer.uint64("testnet", status.testnet)
            writer.uint64("missing", status.missing)
            if let running = status.running {
                writer.object("running") { running.write(to: &$0) }
            }
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
        var ledger =
            "Taken in, of all sources: \(status.mainnet) of the main network, \(status.testnet) of "
            + "the test network."
        if status.missing > 0 {
            let wallets = ShownText.count(status.missing, "wallet", "wallets")
            ledger +=
                " The vault has \(wallets) of them no longer: `coffer migrate apply SOURCE` "
                + "takes them in again."
        }
        parts.append(ShownText.wrapped(ledger))
        parts.append(ShownText.wrapped(shownRun))
        return parts.joined(separator: "\n\n")
    }

    private var shownRun: String {
        guard let run = status.running else { return "No run is under way." }
        let far = progress.map { ", \($0.done) of \($0.total) wallets" } ?? ""
        let aim = run.isVerification ? "verify" : "apply"
        return "A run is under way since \(ShownText.moment(run.began)) UTC: \(aim), "
            + "\(run.network.title.lowercased()), \(ShownText.printable(run.path))\(far). "
            + "`coffer migrate stop` stops it."
    }

    private var rows: [[String]] {
        [["SOURCE", "STATE", "WALLETS", "LAST RUN (UTC)", "FILE"]]
            + zip(status.sources, now).map { Self.row($0, $1) }
    }

    private static func row(
        _ source: AskMigrationStatus.Reply.Source, _ now: SourceNow
    ) -> [String] {
        var counts = source.counts
        var state = source.shownState
        if case .same(let page) = now {
            counts = page.counts
            state = source.shownState(counts)
        }
        return [
            String(Hex.encode(source.digest).prefix(SourcePlan.shownDigits)), state,
            counts.shown, ShownText.moment(source.lastRun),
            ShownText.printable(source.path) + now.shownNote,
        ]
    }
}

extension AskMigrationStatus.Reply.Source {
    /// As the last run left it.
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

    /// As it stands now.
    fileprivate func shownState(_ now: ClassCounts) -> String {
        if now.isSettled { return "done" }
        if setAside { return "set aside" }
        var parts: [String] = []
        if now.listed > 0 { parts.append(deferredFailure ? "failures" : "not done") }
        if now.undetermined > 0 || now.damaged > 0 { parts.append("unclear wallets") }
        if now.unknownChain > 0 { parts.append("wallets wait") }
        return parts.joined(separator: ", ")
    }
}
