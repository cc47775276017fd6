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
            property list of a decrypted device backup's keychain, or lines of JSON. Ends with 7 \
            where it has nothing of the app.
            """
    ) { run throws(CommandFailure) in
        let plan = try run.plan(of: try run.migrationSource())
        var parts: [String] = []
        if !plan.wallets.isEmpty { parts.append(SourcePlan.text(of: plan.wallets)) }
        let digest = Hex.encode(plan.digest).prefix(SourcePlan.shownDigits)
        parts.append("\(plan.counts.shown)\nlaunch \(plan.launch.shown)\nsource \(digest)")
        parts += plan.advice.map { ShownText.wrapped($0) }
        if plan.isSetAside {
            parts.append(
                "The source is set aside, and `coffer migrate apply` takes that back.")
        }
        if plan.counts.listed > 0 {
            parts.append("`coffer migrate apply SOURCE` takes in what is to be taken in.")
        }
        if !plan.isRecognised { parts.append(ShownText.wrapped(SourcePlan.notRecognised)) }
        let exitCode = plan.isRecognised ? ExitCode.done : .refused
        return Report(parts.joined(separator: "\n\n"), exitCode: exitCode) { writer in
            writer.identifier("source", plan.source)
            writer.hex("digest", plan.digest)
            writer.bool("recognised", plan.isRecognised)
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
            standard error, unless --json is given. Ctrl-C stops it: the wallets at hand, eight at \
            the most, are finished, and what was shown last may be a moment old. Applying again \
            goes on from there, and no wallet is taken in twice. One that was taken in before, and \
            that the vault has no longer, comes in again. The source is never changed. Ends with 0 \
            only where every wallet of the source is settled and there, with 7 where one is not, \
            where one was taken into another namespace and so was not looked for, or where the \
            source has nothing of the app.
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
            elsewhere: PlacesElsewhere(after?.places ?? plan.places, besides: places),
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
            a wallet does not verify, with 7 where there is nothing to verify or where a wallet \
            was taken into another namespace.
            """
    ) { run throws(CommandFailure) in
        let source = try run.migrationSource()
        let places = try run.networkPlaces()
        let page = try run.planPage(of: source)
        let networks = try run.networksTakenIn(page.counts)
        let outcomes = try run.carryOut(
            .verify, of: source, over: places.filter { networks.contains($0.network) })
        let after = outcomes.isEmpty ? page : try run.planPage(of: source)
        return VerifyReport(
            source: source, before: page, missing: after.counts.missing, outcomes: outcomes,
            elsewhere: PlacesElsewhere(page.places, besides: places)
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
        let exitCode = page.isRecognised ? ExitCode.done : .refused
        return Report(ShownText.wrapped(page.shownSetAside), exitCode: exitCode) {
            $0.bool("recognised", page.isRecognised)
            $0.bool("set_aside", !page.counts.isSettled)
            $0.uint64("wallets", page.counts.unsettled)
            $0.identifier("source", source)
            $0.hex("digest", page.digest)
        }
    }

    static let migrateStatus = Verb(
        "migrate status",
        summary: "Show what is migrated as of now.",
        help: """
            Lists the sources that were run over, how each stands now and when it was run over \
            last; how many wallets were taken in; and the run that is under way. Where a file is \
            gone or another one now, how the last run left it is shown. Needs no passcode. A \
            source is done when each of its wallets is taken in or was reset in the app; one that \
            is not done holds no other back.
            """
    ) { run throws(CommandFailure) in
        let caller = try run.caller()
        let status = try caller.call(AskMigrationStatus()).reply
        // A run that ends in between is none any more.
        let progress = status.running.flatMap { try? caller.call(FollowRun(run: $0.run)).reply }
        return MigrationStatusReport(
            status: status, now: run.lookAgain(at: status.sources), progress: progress
        ).report
    }

    static let migrateStop = Verb(
        "migrate stop",
        summary: "Stop the run that is under way.",
        help: """
            For a run whose command is gone. The wallets at hand, eight at the most, are finished, \
            and nothing is lost: `coffer migrate apply` goes on from there. Needs no passcode.
            """
    ) { run throws(CommandFailure) in
        let caller = try run.caller()
        let running = try caller.call(AskMigrationStatus()).reply.running?.run
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
    /// They have wallets to take in, or such as were taken in and may be gone from the vault since.
    /// Where there are none, one run all the same, so that the service keeps how the source stands;
    /// once is enough. For a source in which nothing was recognised there is none.
    fileprivate func networksToApply(
        _ plan: SourcePlan
    ) throws(CommandFailure) -> [WalletNetwork] {
        guard plan.isRecognised else { return [] }
        let networks = Set(plan.networks).union(try networksTakenIn(plan.counts))
        guard networks.isEmpty else {
            return WalletNetwork.allCases.filter { networks.contains($0) }
        }
        let status = try caller().call(AskMigrationStatus()).reply
        let isKept = status.sources.contains {
            $0.digest == plan.digest && !$0.setAside && ($0.done || $0.counts == plan.counts)
        }
        return isKept ? [] : [.mainnet]
    }

    /// The networks of which wallets of a source may have been taken in.
    fileprivate func networksTakenIn(
        _ counts: ClassCounts
    ) throws(CommandFailure) -> [WalletNetwork] {
        guard counts.inLedger > 0 else { return [] }
        let status = try caller().call(AskMigrationStatus()).reply
        return WalletNetwork.allCases.filter { network in
            switch network {
            case .mainnet: status.mainnet > 0
            case .testnet: status.testnet > 0
            }
        }
    }

    /// How sources that were run over stand now.
    fileprivate func lookAgain(at sources: [AskMigrationStatus.Reply.Source]) -> [SourceNow] {
        sources.enumerated().map { place, source in
            guard place < SourceNow.limit, let path = SourcePath(source.path) else {
                return .unknown
            }
            do throws(CommandFailure) {
                let page = try planPage(of: path)
                return page.digest == source.digest ? .same(page) : .another
            } catch {
                return .unreadable
            }
        }
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
