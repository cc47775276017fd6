internal import AuthorityMessages
internal import Secrets
internal import Tokens
internal import Wire

extension Verb {
    static let deviceKeyEnroll = Verb(
        "device-key enroll", required: [.token],
        options: [.form] + CommandOption.askingToken + CommandOption.asking,
        summary: "Let a hardware token open wallets, as the passcode does.",
        help: """
            Puts a copy of the access key where only the token gives it back, after its PIN: on \
            it, or under a key that never leaves it. Asks for the passcode and for the PIN, and \
            reads the copy back before anything changes. A token that was enrolled before stands \
            until then. The passcode stays what changes settings, signs and shows phrases. Tokens \
            are reached through PKCS #11; `p11tool --list-tokens` shows what the machine has. A \
            slow one may want a longer --timeout.
            """
    ) { run throws(CommandFailure) in
        let session = try run.verify(.settings, audience: [], to: "enrol a token")
        let form = try run.deviceKeyForm()
        let pin = try run.tokenPIN()
        let caller = try run.caller()
        let changed = try caller.change(
            EnrolDeviceKey(token: run.invocation[.token] ?? "", form: form), key: caller.newKey(),
            token: session.token, attachments: pin)
        _ = try run.tokens().dropAll()
        try run.noteWaiting()
        switch changed {
        case .answered(let reply):
            return Report(
                "The token opens wallets now (\(reply.form.text)): "
                    + "\(ShownText.printable(reply.token))", reply)
        case .done: return Report("The token opens wallets now.") { $0.bool("done", true) }
        }
    }

    static let deviceKeyRemove = Verb(
        "device-key remove",
        options: [.lost] + CommandOption.askingToken + CommandOption.asking,
        summary: "Let the hardware token open nothing any more.",
        help: """
            The token opens nothing from then on, whether it is plugged in or not. Then what is on \
            it is deleted, which takes its PIN; where that does not succeed it waits, and the same \
            command tries again. With --lost nothing waits: the token is gone, or was cleared. \
            Asks for the passcode.
            """
    ) { run throws(CommandFailure) in
        let session = try run.verify(.settings, audience: [], to: "take the token away")
        let isLost = run.invocation.has(.lost)
        let standing = try run.caller().call(AskDeviceKey()).reply
        let isAnything = standing.token != nil || !standing.waiting.isEmpty
        let pin = isLost || !isAnything ? [] : try run.tokenPIN()
        let caller = try run.caller()
        let changed = try caller.change(
            RemoveDeviceKey(lost: isLost), key: caller.newKey(), token: session.token,
            attachments: pin)
        _ = try run.tokens().dropAll()
        try run.noteWaiting()
        switch changed {
        case .answered(let reply):
            return Report(
                reply.removed
                    ? "The token opens nothing any more." : "No token opened anything.", reply)
        case .done:
            return Report("The token opens nothing any more.") { $0.bool("done", true) }
        }
    }

    static let deviceKeyStatus = Verb(
        "device-key status",
        summary: "Show which hardware token opens wallets.",
        help: "Asks no token and needs no passcode."
    ) { run throws(CommandFailure) in
        let reply = try run.caller().call(AskDeviceKey()).reply
        var rows = [["token", reply.token.map { ShownText.printable($0) } ?? "none"]]
        if let form = reply.form { rows.append(["form", form.text]) }
        for token in reply.waiting {
            rows.append(["waits to be deleted on", ShownText.printable(token)])
        }
        return Report(TextTable.lines(rows), reply)
    }
}

extension CommandOption {
    static let token = CommandOption(
        "--token", "URI", "The token, as a PKCS #11 URI such as pkcs11:token=NAME.")
    static let form = CommandOption(
        "--form", "FORM", "data, ecdh or rsa; the first that the token takes if left out.")
    static let pinDescriptor = CommandOption(
        "--pin-fd", "N", "Read the token's PIN from this open descriptor.")
    static let noPIN = CommandOption(
        "--no-pin", nil, "Send no PIN: the token asks for it itself.")
    static let lost = CommandOption(
        "--lost", nil, "The token is gone or was cleared: try nothing on it.")
    static let deviceKey = CommandOption(
        "--device-key", nil, "Use the hardware token instead of the passcode.")

    static let askingToken: [CommandOption] = [.pinDescriptor, .noPIN]
}

extension CommandRun {
    /// The token's PIN as an attachment; none where the token asks for it itself.
    func tokenPIN() throws(CommandFailure) -> [SharedSecret] {
        guard !invocation.has(.noPIN) else { return [] }
        let pin = try secret(
            SecretQuestion(
                description: "The PIN of the hardware token of owner \(try owner().text).",
                prompt: "PIN", isNew: false, option: .pinDescriptor))
        return [pin]
    }

    /// Starts a session with the token that is enrolled.
    func openDevice(_ namespace: Namespace) throws(CommandFailure) -> OwnSession {
        let standing = try caller().call(AskDeviceKey()).reply
        // Nobody types a PIN for nothing.
        guard standing.token != nil else {
            throw CommandFailure(DeviceKeyFault.none.refusal, kind: .fresh)
        }
        let audience: [ServiceName] = [.walletVault]
        let answer = try caller().call(
            OpenDeviceSession(scope: .resource(namespace), audience: audience),
            attachments: try tokenPIN())
        guard let token = answer.attachments.first else {
            throw CommandFailure(BusFault.badReply.refusal, kind: .fresh)
        }
        let session = OwnSession(
            token: token.bytes.withBytes { Array($0) }, scope: .resource(namespace),
            audience: audience, remainingMilliseconds: answer.reply.remainingMilliseconds,
            failedBefore: 0)
        own(session)
        return session
    }

    fileprivate func deviceKeyForm() throws(CommandFailure) -> DeviceKeyForm? {
        guard let text = invocation[.form] else { return nil }
        guard let form = DeviceKeyForm(text) else {
            throw .usage("--form wants data, ecdh or rsa.")
        }
        return form
    }

    /// Says that something is still on tokens.
    fileprivate func noteWaiting() throws(CommandFailure) {
        guard let waiting = try? caller().call(AskDeviceKey()).reply.waiting, !waiting.isEmpty
        else { return }
        note(
            "On " + ShownText.count(UInt64(waiting.count), "token", "tokens")
                + " something waits to be deleted: `coffer device-key remove` with the token "
                + "plugged in deletes it, with --lost it is given up.")
    }
}
