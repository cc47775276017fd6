internal import Glibc
internal import Secrets
internal import Tokens
internal import VaultMessages
internal import Wire

extension Verb {
    static let walletReveal = Verb(
        "wallet reveal", arguments: [.required("WALLET")],
        options: [.namespace, .phraseOutDescriptor] + CommandOption.asking,
        summary: "Show a wallet's recovery phrase.",
        help: """
            Always asks for the passcode, also within a session of `coffer unlock`; an owner \
            without one is not asked. The phrase is shown where standard output is a \
            terminal, or written with a line feed to --phrase-out-fd; it never stands in JSON, \
            and a pipe or file on standard output is refused. WALLET is an id, at least the \
            first 8 characters of one, or a label.
            """
    ) { run throws(CommandFailure) in
        let target = try run.phraseTarget()
        let id = try run.walletID()
        let namespace = try run.namespace()
        let session = try run.verify(
            .reveal(namespace, id), audience: [.walletVault], to: "show a phrase")
        let answer = try run.caller().call(
            RevealWallet(namespace: namespace, wallet: id), token: session.token)
        guard let phrase = answer.attachments.first else {
            throw CommandFailure(BusFault.badReply.refusal, kind: .fresh)
        }
        return try target.show(phrase, of: answer.reply)
    }
}

/// Where a phrase goes.
private enum PhraseTarget {
    case terminal(Int32)
    case descriptor(Int32)

    func show(
        _ phrase: SharedSecret, of wallet: WalletDescription
    ) throws(CommandFailure) -> Report {
        let isWritten: Bool
        var text = ""
        switch self {
        case .terminal(let descriptor):
            Output.line(wallet.table + "\n", to: descriptor)
            isWritten = Output.secret(PhraseOutput.numbered(phrase.bytes), to: descriptor)
            text = "\nWhoever reads these words owns the wallet. `clear` empties the screen."
        case .descriptor(let descriptor):
            isWritten = Output.secret(PhraseOutput.line(phrase.bytes), to: descriptor)
            // On standard output the phrase stands alone.
            if descriptor != STDOUT_FILENO {
                close(descriptor)
                text = "The phrase is written.\n\n\(wallet.table)"
            }
        }
        guard isWritten else { throw CommandFailure(.outputFailed) }
        return Report(text, wallet)
    }
}

extension CommandRun {
    /// Found before anything is asked, so that no proof is spent for a phrase that cannot be shown.
    fileprivate func phraseTarget() throws(CommandFailure) -> PhraseTarget {
        if let descriptor = try descriptor(.phraseOutDescriptor) {
            let mode = fcntl(descriptor, F_GETFL) & O_ACCMODE
            guard mode == O_WRONLY || mode == O_RDWR else {
                throw .usage("--phrase-out-fd \(descriptor) is not open for writing.")
            }
            return .descriptor(descriptor)
        }
        guard !wantsJSON, isatty(parts.output) == 1 else {
            throw .usage(
                "A phrase goes to a terminal or to --phrase-out-fd N, and standard output is "
                    + "\(wantsJSON ? "for JSON" : "no terminal").")
        }
        return .terminal(parts.output)
    }
}
