internal import MigrationMessages
internal import Tokens
internal import VaultMessages
internal import Wire

extension Verb {
    static let migratePlan = Verb(
        "migrate plan", arguments: [.required("SOURCE")],
        summary: "Show what a legacy Dash keychain holds.",
        help: """
            Changes nothing, reads no phrase and needs no passcode. Lists every wallet with what \
            would become of it and why. SOURCE is a file that the migration service can read: the \
            property list of a decrypted device backup's keychain, or lines of JSON.
            """
    ) { run throws(CommandFailure) in
        let plan = try run.plan(of: try run.migrationSource())
        var parts: [String] = []
        if !plan.wallets.isEmpty { parts.append(SourcePlan.text(of: plan.wallets)) }
        let digest = Hex.encode(plan.digest).prefix(SourcePlan.shownDigits)
        parts.append("\(plan.counts.shown)\nlaunch \(plan.launch.shown)\nsource \(digest)")
        parts += plan.advice.map { ShownText.wrapped($0) }
        if plan.counts.listed > 0 {
            parts.append("`coffer migrate apply SOURCE` takes in what is to be taken in.")
        }
        return Report(parts.joined(separator: "\n\n")) { writer in
            writer.identifier("source", plan.source)
            writer.hex("digest", plan.digest)
            writer.identifier("launch", plan.launch)
            writer.object("counts") { plan.counts.write(to: &$0) }
            SourcePlan.write(plan.wallets, as: "wallets", to: &writer)
        }
    }

    static let migrateApply = Verb(
        "migrate apply", arguments: [.required("SOURCE")],
        options: [.mainnetNamespace, .testnetNamespace] + CommandOption.asking,
        summary: "Take the wallets of a legacy Dash keychain into the vault.",
        help: """
            Asks for the passcode once, whatever the number of wallets. Shows how far it is on \
            standard error, unless --json is given. Ctrl-C stops after the wallet at hand; \
            applying again goes on from there, and no wallet is taken in twice. The source is \
            never changed. Ends with 0 only where every wallet of the source is settled, with 7 \
            where one is not.
            """
    ) { run throws(CommandFailure) in
        let source = try run.migrationSource()
        let places = try run.networkPlaces()
        let plan = try run.plan(of: source)
        let networks = try run.networksToApply(plan)
        let outcomes = try run.carryOut(
            .apply, of: source, over: places.filter { networks.contains($0.network) })
        let after = outcomes.isEmpty ? nil : try run.planPage(of: source)
        return ApplyReport(
            plan: plan, outcomes: outcomes, counts: after?.counts ?? plan.counts,
            launch: after?.launch ?? plan.launch
        ).report
    }

    static let migrateVerify = Verb(
        "migrate verify", arguments: [.required("SOURCE")],
        options: [.mainnetNamespace, .testnetNamespace] + CommandOption.asking,
        summary: "Compare the vault with a legacy Dash keychain.",
        help: """
            Has the vault open every wallet that was taken in from SOURCE, derives its identity \
            from the source once more, and compares. Asks for the passcode once. Ends with 9 where \
            a wallet does not verify.
            """
    ) { run throws(CommandFailure) in
        let source = try run.migrationSource()
        let places = try run.networkPlaces()
        let page = try run.planPage(of: source)
        let status = try run.caller().call(AskMigrationStatus()).reply
        let taken = places.filter { place in
            switch place.network {
            case .mainnet: status.mainnet > 0
            case .testnet: status.testnet > 0
            }
        }
        let outcomes = try run.carryOut(.verify, of: source, over: taken)
        return VerifyReport(
            source: source, digest: page.digest, counts: page.counts, outcomes: outcomes
        ).report
    }

    static let migrateSetAside = Verb(
        "migrate set-aside", arguments: [.required("SOURCE")], options: CommandOption.asking,
        summary: "Let what is left of a source hold up nothing.",
        help: """
            For a source of which nothing more can come: a list that nobody will ever read again \
            would keep a wallet app from its setup for ever. Nothing is removed, and `coffer \
            migrate apply` takes it back. Asks for the passcode.
            """
    ) { run throws(CommandFailure) in
        let source = try run.migrationSource()
        let page = try run.planPage(of: source)
        if !page.counts.isSettled {
            let session = try run.verify(
                .settings, audience: [.migration], to: "set a source aside")
            let caller = try run.caller()
            _ = try caller.change(
                SetSourceAside(source: source, digest: page.digest), key: caller.newKey(),
                token: session.token)
        }
        let text =
            page.counts.isSettled
            ? "Every wallet of the source is settled, so there is nothing to set aside."
            : "The source is set aside: what is left of it holds up no app. Keep it; it was not "
                + "changed."
        return Report(ShownText.wrapped(text)) {
            $0.bool("set_aside", !page.counts.isSettled)
            $0.identifier("source", source)
            $0.hex("digest", page.digest)
        }
    }

    static let migrateStatus = Verb(
        "migrate status",
        summary: "Show what was migrated so far.",
        help: """
            Lists the sources that were run over, how each stands, and how many wallets were taken \
            in. Needs no passcode. A source is done when each of its wallets is taken in or was \
            reset in the app; one that is not done holds no other back.
            """
    ) { run throws(CommandFailure) in
        let caller = try run.caller()
        let status = try caller.call(AskMigrationStatus()).reply
        // A run that ends in between is none any more.
        let progress = status.running.flatMap { try? caller.call(FollowRun(run: $0)).reply }
        return MigrationStatusReport(status: status, progress: progress).report
    }

    static let migrateStop = Verb(
        "migrate stop",
        summary: "Stop the run that is under way.",
        help: """
            For a run whose command is gone. It stops after the wallet at hand, and nothing is \
            lost: `coffer migrate apply` goes on from there. Needs no passcode.
            """
    ) { run throws(CommandFailure) in
        let caller = try run.caller()
        let running = try caller.call(AskMigrationStatus()).reply.running
        if let running { _ = try caller.call(StopRun(run: running)) }
        return Report(running == nil ? "No run is under way." : "The run is told to stop.") {
            $0.bool("stopped", running != nil)
            $0.optionalIdentifier("run", running)
        }
    }
}

extension CommandRun {
    /// Where the wallets of each network are, in the order of the runs.
    fileprivate func networkPlaces() throws(CommandFailure) -> [NetworkPlace] {
        [
            NetworkPlace(
                network: .mainnet,
                namespace: try namespace(.mainnetNamespace, else: "dash.mainnet")),
            NetworkPlace(
                network: .testnet,
                namespace: try namespace(.testnetNamespace, else: "dash.testnet")),
        ]
    }

    /// The networks that runs must go over.
    ///
    /// Where nothing is to be taken in, one run all the same, so that the service keeps how the
    /// source stands; once is enough.
    fileprivate func networksToApply(
        _ plan: SourcePlan
    ) throws(CommandFailure) -> [WalletNetwork] {
        let networks = plan.networks
        guard networks.isEmpty else { return networks }
        let status = try caller().call(AskMigrationStatus()).reply
        let isKept = status.sources.contains {
            $0.digest == plan.digest && !$0.setAside && ($0.done || $0.counts == plan.counts)
        }
        return isKept ? [] : [.mainnet]
    }

    /// Runs over networks, one after the other, with one passcode.
    ///
    /// Signals are held as soon as that is typed.
    fileprivate func carryOut(
        _ purpose: RunPurpose, of source: SourcePath, over places: [NetworkPlace]
    ) throws(CommandFailure) -> [NetworkOutcome] {
        guard let first = places.first else { return [] }
        // Nobody types a passcode for a vault that is not there.
        try caller().greet(.walletVault)
        var session: OwnSession? = try NetworkRun.open(first, purpose, of: self)
        parts.signals.hold()
        defer { parts.signals.release() }
        var outcomes: [NetworkOutcome] = []
        for place in places {
            do throws(CommandFailure) {
                outcomes.append(
                    try NetworkRun(
                        purpose, of: self, source: source, place: place, session: session
                    ).carryOut())
                session = nil
            } catch {
                for outcome in outcomes where outcome.total > 0 { note(outcome.sentence(purpose)) }
                throw error
            }
        }
        return outcomes
    }
}
