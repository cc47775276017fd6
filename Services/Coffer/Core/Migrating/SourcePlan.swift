internal import Glibc
internal import MigrationMessages
internal import VaultMessages
internal import Wire

/// What a source holds and what would become of it, all of its pages.
struct SourcePlan {
    let source: SourcePath
    let digest: [UInt8]
    let launch: LaunchState
    /// Rows of the legacy app.
    let rows: UInt64
    let counts: ClassCounts
    /// Where wallets of it were taken in.
    let places: [PlanMigration.Reply.Place]
    let wallets: [PlanMigration.Reply.Wallet]

    /// Whether the source has, or may have, anything of the legacy app.
    var isRecognised: Bool { rows > 0 || counts.damaged > 0 }

    /// Nothing else lets an app go on over what is not settled.
    var isSetAside: Bool { launch == .absent && !counts.isSettled }

    /// What is said of a source in which nothing was recognised.
    static let notRecognised =
        "The source has nothing of the legacy Dash app. It is not the right file, or not whole: "
        + "keep it, and look for the keychain."

    /// Digits of a digest that stand for it before a person.
    static let shownDigits = 16

    /// Those that no run settles, in the order of their ids.
    var stuck: [PlanMigration.Reply.Wallet] { wallets.filter { $0.reason.advice != nil } }

    /// The networks that have wallets to take in.
    var networks: [WalletNetwork] {
        WalletNetwork.allCases.filter { network in
            wallets.contains { $0.reason == network.listedReason }
        }
    }

    /// What a person sees of wallets: id, class and reason, and what to do about them.
    static func text(of wallets: [PlanMigration.Reply.Wallet]) -> String {
        TextTable.lines(
            [["WALLET", "STATE", "WHY"]]
                + wallets.map { wallet in
                    [
                        ShownText.legacyID(wallet.id), wallet.reason.walletClass.shown,
                        wallet.reason.shown,
                    ]
                })
    }

    /// What to do about what no run settles, each thing once.
    var advice: [String] {
        let reasons = ClassReason.allCases.filter { reason in
            wallets.contains { $0.reason == reason }
        }
        return reasons.compactMap(\.advice)
            + [counts.advice, counts.phraselessAdvice].compactMap { $0 }
    }

    static func write(
        _ wallets: [PlanMigration.Reply.Wallet], as key: String, to writer: inout JSONWriter
    ) {
        writer.objects(key, wallets) { writer, wallet in
            writer.string("id", wallet.id)
            writer.identifier("class", wallet.reason.walletClass)
            writer.identifier("reason", wallet.reason)
        }
    }
}

extension PlanMigration.Reply {
    /// Whether the source has, or may have, anything of the legacy app.
    var isRecognised: Bool { rows > 0 || counts.damaged > 0 }

    /// What is said when it was set aside.
    var shownSetAside: String {
        guard isRecognised else { return SourcePlan.notRecognised }
        guard !counts.isSettled else {
            return "Every wallet of the source is settled, so there is nothing to set aside."
        }
        let wallets = ShownText.count(
            counts.unsettled, "wallet of it stays where it is and holds",
            "wallets of it stay where they are and hold")
        return "The source is set aside: \(wallets) up no app. Keep it; it was not changed."
    }
}

extension CommandRun {
    /// The source that the verb's argument names, from the root: the service reads it, in a folder
    /// of its own.
    func migrationSource() throws(CommandFailure) -> SourcePath {
        let word = invocation.arguments[0]
        guard !word.isEmpty, let source = SourcePath(try Self.absolute(word, of: "SOURCE")) else {
            throw .usage("SOURCE wants the path of a file, of at most 4096 bytes.")
        }
        return source
    }

    /// All pages of a source's plan.
    ///
    /// - Throws: `migration.source_changed` too where the file changes between two pages.
    func plan(of source: SourcePath) throws(CommandFailure) -> SourcePlan {
        var page = try planPage(of: source)
        let first = page
        var wallets = page.wallets
        while page.more, let last = page.wallets.last {
            page = try planPage(of: source, after: last.id)
            guard page.digest == first.digest else {
                throw CommandFailure(MigrationFault.sourceChanged.refusal, kind: .read)
            }
            wallets += page.wallets
        }
        return SourcePlan(
            source: source, digest: first.digest, launch: first.launch, rows: first.rows,
            counts: first.counts, places: first.places, wallets: wallets)
    }

    /// One page, with what is true of the whole source.
    func planPage(
        of source: SourcePath, after id: String? = nil
    ) throws(CommandFailure) -> PlanMigration.Reply {
        do throws(CommandFailure) {
            return try caller().call(PlanMigration(source: source, after: id)).reply
        } catch {
            guard error.code == MigrationFault.sourceUnreadable.rawValue else { throw error }
            throw Self.unreadable(source)
        }
    }

    /// Says why the service may be unable to read a file, as far as the command can see.
    private static func unreadable(_ source: SourcePath) -> CommandFailure {
        var refusal = MigrationFault.sourceUnreadable.refusal
        var status = stat()
        let reason: String
        if lstat(source.text, &status) != 0 {
            reason = "There is no such file, as far as this command can see."
        } else if status.st_mode & S_IFMT == S_IFLNK {
            reason = "It is a link, which the service does not follow: give the file itself."
        } else if status.st_mode & S_IFMT != S_IFREG {
            reason = "It is no ordinary file."
        } else {
            reason =
                "The file is there, but the service opens it as the user that it runs as: let that "
                + "user read the file and pass through its folders."
        }
        refusal.message = "The migration service cannot read `\(source.text)`. \(reason)"
        return CommandFailure(refusal, kind: .read)
    }
}
