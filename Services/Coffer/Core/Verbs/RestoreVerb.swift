internal import BackupShares
internal import Secrets
internal import SharesMessages
internal import Tokens
internal import VaultMessages
internal import Wire

extension Verb {
    static let backupRestore = Verb(
        "backup restore", arguments: [.any("RELEASED")],
        options: [
            .namespace, .shares, .shareKeys, .passphraseDescriptors, .restoration, .label,
            .expect, .sharesKind, .network, .yes,
        ] + CommandOption.asking,
        summary: "Restore a wallet from three shares.",
        help: """
            RELEASED are the three files that the holders released for `coffer backup request`. \
            Where shares and keys are all at hand, give three times --share FILE and --key FILE \
            instead: everything is done in one run. Nothing is installed unless the phrase leads \
            to the identity of --expect or of a backup that this installation knows; where there \
            is neither, the identity is shown and asked about, unless --yes is given. A share that \
            cannot be used is named with its holder. Shares carry no label: --label gives one. \
            Asks for the passcode.
            """
    ) { run throws(CommandFailure) in try WalletRestoration(run).report() }
}

/// Restores a wallet from three shares.
private struct WalletRestoration {
    private let run: CommandRun
    private let namespace: Namespace
    private let label: String
    private let expected: [UInt8]?
    private let kind: WalletKind?
    private let network: WalletNetwork?

    init(_ run: CommandRun) throws(CommandFailure) {
        self.run = run
        namespace = try run.namespace()
        label = try run.label()
        (kind, network) = try run.restoredKind()
        expected = try run.expectedIdentity(of: kind)
    }

    func report() throws(CommandFailure) -> Report {
        let isOneRun = run.invocation.has(.shares) || run.invocation.has(.shareKeys)
        guard isOneRun else { return try fromReleased() }
        guard run.invocation.arguments.isEmpty, !run.invocation.has(.restoration) else {
            throw .usage("--share and --key do without released files and --restoration.")
        }
        return try inOneRun()
    }

    // MARK: Released files

    private func fromReleased() throws(CommandFailure) -> Report {
        let paths = run.invocation.arguments
        guard paths.count == SplitWallet.shareCount else {
            throw .usage(
                "`coffer backup restore` wants three released files, or three times --share FILE "
                    + "and --key FILE.")
        }
        let inputs = try ShareInput.read(paths)
        let restoration = try restoration(of: inputs)
        do throws(CommandFailure) {
            return try report(restore(restoration, inputs.map { ($0.path, $0.bytes) }))
        } catch {
            guard error.code == VaultFault.walletExists.rawValue else { throw error }
            var failure = error
            failure.refusal.message +=
                " The restoration is still open: `coffer backup cancel \(restoration.text)` gives "
                + "it up."
            throw failure
        }
    }

    /// The one restoration that the files were released for.
    private func restoration(of inputs: [ShareInput]) throws(CommandFailure) -> RestorationID {
        let sealed = inputs.filter { $0.file.map { $0.restoration == nil } ?? false }
        guard sealed.isEmpty else {
            throw CommandFailure(sealed.map { $0.unusable(.found(.sealed)) })
        }
        let named = inputs.compactMap { $0.file?.restoration }
        let wanted = try run.restorationID()?.bytes ?? Self.mostNamed(named)
        guard let wanted, let id = RestorationID(wanted) else {
            throw .usage("These files do not say for which restoration: give --restoration ID.")
        }
        let others = inputs.filter { $0.file.map { $0.restoration != wanted } ?? false }
        guard others.isEmpty else {
            throw CommandFailure(others.map { $0.unusable(.found(.otherRestoration)) })
        }
        return id
    }

    private static func mostNamed(_ names: [[UInt8]]) -> [UInt8]? {
        names.max { one, other in
            names.count { $0 == one } < names.count { $0 == other }
        }
    }

    // MARK: Everything in one run

    private func inOneRun() throws(CommandFailure) -> Report {
        let shares = run.invocation.all(.shares)
        let paths = run.invocation.all(.shareKeys)
        guard shares.count == SplitWallet.shareCount, paths.count == SplitWallet.shareCount else {
            throw .usage("Give three times --share FILE, and three times --key FILE.")
        }
        var keys: [SharedSecret] = []
        for (index, path) in paths.enumerated() {
            keys.append(try run.holderKey(path, at: index))
        }
        let inputs = try checked(shares, keys)
        // Before all that may be done again: a check of a passcode whose outcome nobody knows may
        // have been counted, and one passcode that was typed once is tried once.
        try run.withResource(
            to: "restore a wallet", audience: CommandRun.restoringAudience
        ) { (_) throws(CommandFailure) in }
        do throws(CommandFailure) {
            return try attempt(inputs, keys)
        } catch {
            guard Self.isWorthAnotherTry(error) else { throw error }
            // The passcode of a session that was let in is known to be right.
            if error.meansSessionIsOver { run.endOwnSessions() }
            return try secondAttempt(shares, keys, after: error)
        }
    }

    /// Does everything once more, and says what came of that.
    private func secondAttempt(
        _ shares: [String], _ keys: [SharedSecret], after first: CommandFailure
    ) throws(CommandFailure) -> Report {
        let story = "The first attempt failed: \(first.refusal.message) (\(first.code))"
        do throws(CommandFailure) {
            let report = try attempt(checked(shares, keys), keys)
            run.note("\(story) The second one, with a new key pair, succeeded.")
            return report
        } catch {
            run.note(
                error == first
                    ? "Two attempts, each with a key pair of its own, failed in the same way."
                    : "\(story) The second one, with a new key pair, failed as well.")
            throw error
        }
    }

    private func attempt(
        _ inputs: [ShareInput], _ keys: [SharedSecret]
    ) throws(CommandFailure) -> Report {
        let begun = try run.beginRestoration()
        run.parts.noteOpen(.restoration(begun.restoration))
        let target = ReleaseTarget(
            restoration: begun.restoration, publicKey: begun.publicKey)
        do throws(CommandFailure) {
            var files: [(path: String, bytes: [UInt8])] = []
            for (input, key) in zip(inputs, keys) {
                let bytes = try input.released(key, for: target, random: run.parts.random)
                files.append((input.path, bytes))
            }
            return try report(restore(begun.restoration, files))
        } catch {
            // Where the outcome is open, the restoration may still be under way.
            if error.refusal.outcome == .rejected {
                run.abandon(begun.restoration)
                run.parts.noteOpen(nil)
            }
            throw error
        }
    }

    /// Reads the files, and names every share that its key does not open.
    ///
    /// Nothing is begun yet, and no new key pair would mend them: these are not tried again.
    private func checked(
        _ paths: [String], _ keys: [SharedSecret]
    ) throws(CommandFailure) -> [ShareInput] {
        let inputs = try ShareInput.read(paths)
        var unusable: [UnusableShare] = []
        for (input, key) in zip(inputs, keys) {
            do throws(CommandFailure) {
                try input.check(key)
            } catch {
                guard !error.shares.isEmpty else { throw error }
                unusable += error.shares
            }
        }
        guard unusable.isEmpty else { throw CommandFailure(unusable) }
        return inputs
    }

    /// What a new key pair, a new session or reading the files anew can mend; never the check of a
    /// passcode, which comes before.
    static func isWorthAnotherTry(_ failure: CommandFailure) -> Bool {
        let codes = [
            BusFault.unreachable.rawValue, BusFault.lost.rawValue, BusFault.expired.rawValue,
            SessionFault.ended.rawValue, SessionFault.invalid.rawValue,
            SharesFault.noSuchRestoration.rawValue, SharesFault.restorationDamaged.rawValue,
            SharesFault.unfitShares.rawValue, ClientFault.unusableShares.rawValue,
        ]
        return codes.contains(failure.code)
    }

    // MARK: The restoration

    private enum Restored {
        case now(WalletDescription)
        /// An attempt before this one brought it in.
        case earlier(SharedWallet)
    }

    private func restore(
        _ restoration: RestorationID, _ files: [(path: String, bytes: [UInt8])]
    ) throws(CommandFailure) -> Restored {
        var reply = try ask(restoration, files, expected: expected)
        if case .unconfirmed(let wallet) = reply {
            // Nothing was changed, and a person may think for long.
            run.parts.noteOpen(.restoration(restoration))
            try refuseExisting(wallet)
            try confirm(wallet)
            reply = try ask(restoration, files, expected: wallet.identity)
        }
        switch reply {
        case .installed(let wallet): return .now(wallet)
        case .installedEarlier(let wallet): return .earlier(wallet)
        case .unusable(let found):
            let unusable = found.map { entry in
                UnusableShare(
                    path: files.indices.contains(entry.file) ? files[entry.file].path : "?",
                    holder: entry.holder?.text, problem: .found(entry.problem))
            }
            throw CommandFailure(unusable)
        case .unconfirmed: throw CommandFailure(BusFault.badReply.refusal, kind: .change)
        }
    }

    private func ask(
        _ restoration: RestorationID, _ files: [(path: String, bytes: [UInt8])],
        expected: [UInt8]?
    ) throws(CommandFailure) -> RestoreWallet.Reply {
        let request = RestoreWallet(
            namespace: namespace, restoration: restoration, label: label, expected: expected,
            walletKind: kind, network: network)
        let attachments = files.map { SharedSecret(SecretBytes(copying: $0.bytes)) }
        let caller = try run.caller()
        let changed = try run.withResource(
            to: "restore a wallet", audience: CommandRun.restoringAudience
        ) { (token) throws(CommandFailure) in
            try caller.change(
                request, key: caller.newKey(), token: token, attachments: attachments)
        }
        guard case .answered(let reply) = changed else {
            throw CommandFailure(
                .outcomeUnknown,
                "The restoration was answered, and the answer is lost. `coffer wallet list` shows "
                    + "whether the wallet is there; if not, restore it again.")
        }
        return reply
    }

    /// Nobody is asked about a wallet that is here already.
    private func refuseExisting(_ wallet: SharedWallet) throws(CommandFailure) {
        let caller = try run.caller()
        let known: WalletDescription
        do throws(CommandFailure) {
            known = try run.withResource(
                to: "restore a wallet", audience: CommandRun.restoringAudience
            ) { (token) throws(CommandFailure) in
                try caller.call(
                    FindWallet(
                        namespace: namespace, walletKind: wallet.kind, network: wallet.network,
                        identity: wallet.identity), token: token
                ).reply
            }
        } catch {
            guard error.code == VaultFault.noSuchWallet.rawValue else { throw error }
            return
        }
        var refusal = VaultFault.walletExists.refusal
        refusal.message =
            "The shares lead to wallet \(known.wallet.text), which is in namespace "
            + "\(namespace.text) already."
        throw CommandFailure(refusal, kind: .change)
    }

    /// Has a person say that it is the right wallet.
    private func confirm(_ wallet: SharedWallet) throws(CommandFailure) {
        guard !run.invocation.has(.yes) else {
            run.note("Nobody has compared the wallet's identity: --yes was given.")
            return
        }
        let question = """
            The shares lead to this wallet, and nothing here says that it is the right one:

            \(wallet.table)
            \(labelLine)
            Type `yes` to install it:
            """
        guard try run.parts.person.line(question, insteadOf: .yes) == "yes" else {
            throw CommandFailure(.notConfirmed)
        }
    }

    /// Shares carry no label.
    private var labelLine: String {
        label.isEmpty ? "\nIt will have no label, for shares carry none: --label gives one.\n" : ""
    }

    private func report(_ restored: Restored) -> Report {
        switch restored {
        case .now(let wallet):
            if wallet.label.isEmpty {
                run.note("The wallet has no label: shares carry none, and --label gives one.")
            }
            return Report("The wallet is restored.\n\n\(wallet.table)") { writer in
                writer.string("result", "installed")
                writer.object("wallet") { wallet.write(to: &$0) }
            }
        case .earlier(let wallet):
            return Report(
                "An earlier attempt has restored the wallet; `coffer wallet list` shows it."
                    + "\n\n\(wallet.table)"
            ) { writer in
                writer.string("result", "installed_earlier")
                writer.object("wallet") { wallet.write(to: &$0) }
            }
        }
    }
}

extension SharedWallet {
    /// For people.
    fileprivate var table: String {
        TextTable.lines([
            ["kind", network.map { "\(kind.text) (\($0.text))" } ?? kind.text],
            ["words", String(words)], ["identity", Hex.encode(identity)],
        ])
    }
}

extension CommandRun {
    /// What the options say of shares that do not say it themselves.
    fileprivate func restoredKind() throws(CommandFailure) -> (WalletKind?, WalletNetwork?) {
        guard let text = invocation[.sharesKind] else {
            guard !invocation.has(.network) else { throw .usage("--network wants --kind dash.") }
            return (nil, nil)
        }
        guard let kind = WalletKind(text) else {
            throw .usage("--kind wants bip39, dash, ton or ton-rotation.")
        }
        return (kind, try network(of: kind))
    }
}
