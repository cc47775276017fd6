internal import AuthorityMessages
internal import MigrationMessages
internal import SharesMessages
internal import Tokens
internal import VaultMessages
internal import Wire

extension Verb {
    static let ownerReset = Verb(
        "owner reset", options: [.fresh, .yes] + CommandOption.asking,
        summary: "Destroy an owner's wallets and begin with a new credential.",
        help: """
            Every session ends, the vault wipes the owner's wallets, the ledger of migrations goes \
            with them, the attempt limiter forgets the owner, and a new credential without a \
            passcode takes the place of the old one. Only phrases that were written down, and \
            backup shares, bring the wallets back; `coffer backup list` shows the splits from \
            then on as not confirmed, and their shares restore all the same. Asks for \
            the owner's name as confirmation, unless --yes is given, and for the passcode. One \
            that broke off is finished by running it again, without the passcode. Where the \
            passcode is lost, see `coffer owner purge`.

            With --fresh it asks for nothing, and does something only for an owner of whom \
            authority, limiter and vault each answer that they know nothing, as after a fresh \
            installation: the ledger of migrations goes, and he gets a credential without a \
            passcode. Where one of them knows something it is named and nothing is changed.
            """
    ) { run throws(CommandFailure) in
        let removal = try OwnerRemoval(run, .reset)
        return try run.invocation.has(.fresh) ? removal.reportFresh() : removal.report()
    }

    static let ownerRemove = Verb(
        "owner remove", options: [.yes] + CommandOption.asking,
        summary: "Destroy all that every service has of an owner.",
        help: """
            As `coffer owner reset`, and no credential takes the place of the old one; holders and \
            records of backup shares go too. Share files stay where \
            they are, and they are opened by their holders' keys.
            """
    ) { run throws(CommandFailure) in try OwnerRemoval(run, .remove).report() }
}

/// Takes an owner's wallets and credential away, step by step; each step may be repeated.
private struct OwnerRemoval {
    private let run: CommandRun
    private let kind: RemovalKind
    private let owner: Owner

    init(_ run: CommandRun, _ kind: RemovalKind) throws(CommandFailure) {
        self.run = run
        self.kind = kind
        owner = try run.owner()
    }

    func report() throws(CommandFailure) -> Report {
        let caller = try run.caller()
        return try finish(begin(caller), caller)
    }

    /// Resets an owner of whom nobody knows anything.
    func reportFresh() throws(CommandFailure) -> Report {
        let caller = try run.caller()
        switch try caller.call(BeginFreshReset()).reply {
        case .begun(let removal, let outstanding):
            return try finish(.init(removal: removal, outstanding: outstanding), caller)
        case .known(let services): throw CommandFailure(knownTo: services, owner)
        }
    }

    private func finish(
        _ begun: BeginRemoval.Reply, _ caller: ServiceCaller
    ) throws(CommandFailure) -> Report {
        run.disownSessions()
        _ = try run.tokens().dropAll()
        do throws(CommandFailure) {
            for tag in KnownServices.tags where begun.outstanding.contains(tag.service) {
                try wipe(tag, begun.removal, caller)
            }
            _ = try caller.call(FinishRemoval(removal: begun.removal))
        } catch {
            var failure = error
            failure.refusal.message +=
                " It has begun and cannot be taken back: mend that and run it again."
            throw failure
        }
        let text =
            switch kind {
            case .reset:
                "Owner \(owner.text) is reset: no wallet, no passcode. `coffer passcode set` sets "
                    + "one."
            case .remove: "Owner \(owner.text) is removed."
            }
        return Report(text) { [owner, kind] writer in
            writer.identifier("owner", owner)
            writer.identifier("done", kind)
        }
    }

    /// Begins with a settings session; one that is under way needs none.
    private func begin(_ caller: ServiceCaller) throws(CommandFailure) -> BeginRemoval.Reply {
        let status = try caller.call(AskStatus()).reply
        var token: [UInt8] = []
        if status.removal == nil {
            guard status.kind != nil else {
                throw CommandFailure(CredentialFault.noPasscode.refusal, kind: .change)
            }
            try confirm()
            token = try run.verify(.settings, audience: [], to: "\(kind.text) this owner").token
        }
        return try caller.call(BeginRemoval(removalKind: kind), token: token).reply
    }

    private func confirm() throws(CommandFailure) {
        guard !run.invocation.has(.yes) else { return }
        let typed = try run.parts.person.line(
            "Type `\(owner.text)` to destroy all wallets of this owner:", insteadOf: .yes)
        guard typed == owner.text else { throw CommandFailure(.notConfirmed) }
    }

    private func wipe<Tag: ServiceTag>(
        _ tag: Tag.Type, _ removal: RemovalID, _ caller: ServiceCaller
    ) throws(CommandFailure) {
        _ = try caller.call(WipeOwner<Tag>(removal: removal))
    }
}

extension CommandFailure {
    /// An owner is not reset as a fresh one, for somebody knows him.
    fileprivate init(knownTo services: [ServiceName], _ owner: Owner) {
        let names = services.map(\.text).joined(separator: " and ")
        let wayOut =
            services.contains(.credentialAuthority)
            ? "`coffer owner reset` without --fresh resets him with the passcode."
            : "credential-authority does not: put its store back, or move the rest aside with "
                + "`coffer owner purge \(owner.text)`."
        self.init(
            .knownOwner,
            "\(names) \(services.count == 1 ? "knows" : "know") owner \(owner.text), so nothing "
                + "was reset. \(wayOut)")
        self.services = services
    }
}
