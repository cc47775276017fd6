internal import MigrationMessages
internal import Wire

/// How a source stands after its wallets were taken in.
struct ApplyReport {
    let plan: SourcePlan
    let outcomes: [NetworkOutcome]
    /// After the runs.
    let counts: ClassCounts
    let elsewhere: PlacesElsewhere
    let launch: LaunchState

    private var failed: UInt64 { outcomes.reduce(0) { $0 + $1.failed } }

    /// Whether nothing is left to do: no wallet to take in, none that the vault lost, and none
    /// that no run looked for.
    private var isWhole: Bool {
        plan.isRecognised && counts.isSettled && counts.missing == 0 && failed == 0
            && elsewhere.isEmpty
    }

    var report: Report {
        Report(text, exitCode: isWhole ? .done : .refused) { writer in
            writer.identifier("source", plan.source)
            writer.hex("digest", plan.digest)
            writer.bool("recognised", plan.isRecognised)
            writer.bool("settled", isWhole)
            writer.identifier("launch", launch)
            writer.object("counts") { counts.write(to: &$0) }
            elsewhere.write(to: &writer)
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
        guard plan.isRecognised else { return [SourcePlan.notRecognised] }
        guard !counts.isSettled else { return settledConclusion }
        var sentences = [
            "NOT settled: \(counts.unsettled) of "
                + "\(ShownText.count(counts.total, "wallet", "wallets")) (\(counts.shownParts)). "
                + "Keep the source; it was not changed."
        ]
        if counts.listed > 0 || failed > 0 {
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

extension ApplyReport {
    private var settledConclusion: [String] {
        let advice = [counts.phraselessAdvice].compactMap { $0 }
        guard counts.total > 0 else {
            return [
                "The source holds no wallet of the legacy Dash app. Where you expected one it is "
                    + "not whole: keep it."
            ] + advice
        }
        let lost = max(counts.missing, failed)
        guard isWhole else {
            var sentences: [String] = []
            if lost > 0 {
                sentences.append(
                    "NOT whole: \(ShownText.count(lost, "wallet is", "wallets are")) not in the "
                        + "vault any more and did not come in again.")
            }
            if let found = elsewhere.sentence {
                sentences.append(
                    "NOT whole: \(found), and this run did not look there whether the vault still "
                        + "has \(elsewhere.count == 1 ? "it" : "them"). \(PlacesElsewhere.advice)")
            }
            return sentences + ["Keep the source; it was not changed."] + advice
        }
        return [
            "Every wallet of the source is settled (\(counts.shownParts)). The source was not "
                + "changed; `coffer migrate verify` compares the vault with it."
        ] + advice
    }
}

/// Whether the vault has what a source leads to.
struct VerifyReport {
    let source: SourcePath
    /// Of the source, before.
    let before: PlanMigration.Reply
    /// Wallets that the vault does not have, as the runs found.
    let missing: UInt64
    let outcomes: [NetworkOutcome]
    let elsewhere: PlacesElsewhere

    private var counts: ClassCounts { before.counts }

    private var failed: UInt64 { outcomes.reduce(0) { $0 + $1.failed } }
    private var total: UInt64 { outcomes.reduce(0) { $0 + $1.total } }

    private var exitCode: ExitCode {
        guard failed == 0 else { return .damaged }
        return elsewhere.isEmpty && total > 0 ? .done : .refused
    }

    var report: Report {
        Report(text, exitCode: exitCode) { writer in
            writer.identifier("source", source)
            writer.hex("digest", before.digest)
            writer.bool("recognised", before.isRecognised)
            writer.uint64("wallets", total)
            writer.bool("verified", exitCode == .done)
            elsewhere.write(to: &writer)
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
        guard failed == 0 else { return failures.joined(separator: " ") }
        if let found = elsewhere.sentence {
            return "NOT verified: \(found). \(PlacesElsewhere.advice)"
        }
        guard total > 0 else {
            guard before.isRecognised else { return SourcePlan.notRecognised }
            return "Nothing of this source was taken in, so there is nothing to verify. "
                + "`coffer migrate apply` takes its wallets in."
        }
        let rest =
            counts.isSettled ? "" : " Not all of the source is settled: `coffer migrate plan`."
        return "The vault opens every wallet that was taken in, and each is the one that the "
            + "source leads to.\(rest)"
    }

    private var failures: [String] {
        var sentences = [
            "NOT verified: \(failed) of \(ShownText.count(total, "wallet", "wallets")). Keep the "
                + "source: it has the phrases."
        ]
        if missing > 0 {
            let wallets = ShownText.count(missing, "wallet", "wallets")
            sentences.append(
                "\(wallets) of the source the vault does not have any more: `coffer migrate apply` "
                    + "takes them in again.")
        }
        if failed > missing {
            sentences.append(
                "A wallet that the vault cannot open is mended by putting the vault's store back; "
                    + "or remove it with `coffer wallet remove`, and `coffer migrate apply` takes "
                    + "it in again.")
        }
        return sentences
    }
}
