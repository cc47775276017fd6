internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Loop
internal import MigrationMessages
internal import Serving
internal import VaultMessages
internal import Wire

/// How a source is looked at, and set aside.
extension MigrationService {
    /// Text of one page or list of sources, in bytes; what is foreign may be long, and a reply has
    /// to fit a frame.
    nonisolated static let replyBytesMax = 40_960

    /// Shows what would become of each wallet; reads no phrase.
    func plan(_ call: Call<PlanMigration>) async throws -> Answer<PlanMigration> {
        let source = try await shelf.open(
            call.request.source, for: call.owner, until: call.deadline)
        let wallets = source.index.wallets
        var first = 0
        if let after = call.request.after {
            guard let place = wallets.place(of: LegacyID(after)) else {
                throw MigrationFault.noSuchWallet
            }
            first = place + 1
        }
        let tally = try tally(of: source, owner: call.owner)
        var page: [PlanMigration.Reply.Wallet] = []
        var bytes = 0
        for place in (first..<wallets.count).prefix(PlanMigration.pageLimit) {
            let id = wallets.id(at: place).text
            bytes += JSONWriter.bytes(of: id)
            guard bytes <= Self.replyBytesMax || page.isEmpty else { break }
            page.append(PlanMigration.Reply.Wallet(id: id, reason: tally.reason(at: place)))
        }
        return Answer(
            PlanMigration.Reply(
                digest: source.index.digest, launch: try launch(source, tally, call.owner),
                rows: UInt64(source.index.rows), counts: tally.counts,
                places: call.request.after == nil ? try places(of: source, call.owner) : [],
                wallets: page, more: first + page.count < wallets.count))
    }

    /// Where wallets of a source were taken in.
    private func places(
        of source: OpenSource, _ owner: Owner
    ) throws -> [PlanMigration.Reply.Place] {
        var places: [PlanMigration.Reply.Place] = []
        try store.eachPlace(of: owner) { id, network, namespace in
            guard source.index.wallets.place(of: id) != nil else { return }
            if let last = places.last, (last.network, last.namespace) == (network, namespace) {
                places[places.count - 1].wallets += 1
            } else {
                places.append(.init(network: network, namespace: namespace, wallets: 1))
            }
        }
        return Array(places.prefix(PlanMigration.Reply.placeLimit))
    }

    func launchState(_ call: Call<AskLaunchState>) async throws -> Answer<AskLaunchState> {
        let source: OpenSource
        do {
            source = try await shelf.open(
                call.request.source, for: call.owner, until: call.deadline)
        } catch is MigrationFault {
            return Answer(AskLaunchState.Reply(launch: .unreadable))
        }
        let tally = try tally(of: source, owner: call.owner)
        return Answer(
            AskLaunchState.Reply(launch: try launch(source, tally, call.owner)))
    }

    /// A source that a person set aside holds nobody up.
    private func launch(
        _ source: OpenSource, _ tally: RunTally, _ owner: Owner
    ) throws -> LaunchState {
        let known = try store.source(source.index.digest, of: owner)
        return known?.setAside == true ? .absent : tally.launch
    }

    func status(_ call: Call<AskMigrationStatus>) throws -> Answer<AskMigrationStatus> {
        var bytes = 0
        let sources = try store.sources(
            of: call.owner, limit: AskMigrationStatus.Reply.sourceLimit
        ).prefix { source in
            bytes += JSONWriter.bytes(of: source.path) + 400
            return bytes <= Self.replyBytesMax
        }
        let run = runs[call.owner].flatMap { $0.isRunning ? $0.shown : nil }
        return Answer(
            AskMigrationStatus.Reply(
                sources: Array(sources),
                mainnet: try store.walletCount(of: call.owner, on: .mainnet),
                testnet: try store.walletCount(of: call.owner, on: .testnet),
                missing: try store.missingCount(of: call.owner), running: run))
    }

    /// Takes a person's word that nothing more is to come from a source.
    func setAside(_ call: Call<SetSourceAside>) async throws -> Answer<SetSourceAside> {
        let permission = Permission(purpose: .settings, namespace: nil)
        try call.require(permission)
        let source = try await shelf.open(
            call.request.source, for: call.owner, until: call.deadline)
        guard source.index.digest == call.request.digest else {
            throw MigrationFault.sourceChanged
        }
        let lease = try await link.lease(permission, for: call)
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        guard runs[call.owner]?.isRunning != true else { throw MigrationFault.busy }
        let tally = try tally(of: source, owner: call.owner)
        return try group.change(call) {
            var entry = try entry(of: source, call.request.source, tally, call.owner)
            entry.setAside = true
            try store.put(entry, owner: call.owner)
            return Empty()
        }
    }

    /// How a source stands, as it is noted: with the marks of its last run.
    private func entry(
        of source: OpenSource, _ path: SourcePath, _ tally: RunTally, _ owner: Owner
    ) throws -> AskMigrationStatus.Reply.Source {
        var entry =
            try store.source(source.index.digest, of: owner)
            ?? AskMigrationStatus.Reply.Source(
                digest: source.index.digest, path: path.text, verdict: tally.verdict,
                lastRun: today, counts: tally.counts)
        entry.path = path.text
        entry.counts = tally.counts
        return entry
    }
}

extension AskMigrationStatus.Reply.Source {
    init(
        digest: [UInt8], path: String, verdict: RunVerdict, lastRun: UInt64, counts: ClassCounts
    ) {
        self.init(
            digest: digest, path: path, done: verdict.done,
            deferredUnknownChain: verdict.deferredUnknownChain,
            deferredFailure: verdict.deferredFailure, setAside: false, lastRun: lastRun,
            counts: counts)
    }
}

extension JSONWriter {
    /// How many bytes a text takes at most in a message, with some about it.
    static func bytes(of text: String) -> Int {
        text.utf8.reduce(64) { count, byte in
            count + (byte < 0x20 || byte == 0x22 || byte == 0x5C ? 6 : 1)
        }
    }
}
