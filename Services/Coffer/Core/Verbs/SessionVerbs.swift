internal import AuthorityMessages
internal import Tokens
internal import Wire

extension Verb {
    static let unlock = Verb(
        "unlock",
        options: [.namespace, .deviceKey] + CommandOption.askingToken + CommandOption.asking,
        summary: "Start a session for a namespace's wallets.",
        help: """
            The session's token is kept in the kernel's keyring, never on disk, and the kernel \
            forgets it when the session is over, after five minutes. Where the keyring is \
            forbidden, as in many containers, every verb asks for the passcode instead. For an \
            owner without a passcode nothing is asked, here and by any other verb, until `coffer \
            passcode set`; unlocking him ends a `coffer lock`. With --device-key the hardware \
            token that was enrolled opens the wallets, and no passcode is tried. Attempts that \
            failed since the last right passcode are told: a passcode was wrong, or its check \
            broke off.
            """
    ) { run throws(CommandFailure) in
        let namespace = try run.namespace()
        let usesToken = run.invocation.has(.deviceKey)
        let session = try usesToken ? run.openDevice(namespace) : run.unlock(namespace)
        let isKept = try run.tokens().keep(
            session.token, of: namespace, milliseconds: session.remainingMilliseconds)
        if isKept {
            run.disownSessions()
        } else {
            run.note(
                "The kernel's keyring cannot be used here, so the session is not kept and every "
                    + "verb asks for the passcode.")
        }
        let length = ShownText.seconds(session.remainingMilliseconds)
        return Report(
            isKept
                ? "Namespace \(namespace.text) is unlocked for \(length)."
                : usesToken
                    ? "The token gave the key, and no session is kept."
                    : "Namespace \(namespace.text) can be unlocked, and no session is kept."
        ) {
            $0.bool("unlocked", true)
            $0.identifier("namespace", namespace)
            $0.bool("session_kept", isKept)
            $0.uint64("remaining_ms", session.remainingMilliseconds)
            $0.uint64("failed_before", session.failedBefore)
            $0.failedTries(session.tries)
        }
    }

    static let lock = Verb(
        "lock", options: [.namespace],
        summary: "End every session of the owner.",
        help: """
            Closes the owner's gate: every session ends, those of other programs too, before the \
            command does. What is kept in the kernel's keyring is dropped first, even where the \
            authority cannot be reached.
            """
    ) { run throws(CommandFailure) in
        let namespace = try run.namespace()
        let dropped = try run.tokens().dropAll(and: namespace)
        let reply = try run.caller().call(Lock()).reply
        return Report(
            "Locked. "
                + ShownText.count(UInt64(reply.revoked), "session has", "sessions have")
                + " ended."
        ) {
            $0.bool("locked", true)
            $0.integer("revoked", reply.revoked)
            $0.integer("dropped", dropped)
        }
    }
}

extension CommandRun {
    /// Opens the owner's gate, by the passcode where there is one, and starts a session.
    fileprivate func unlock(_ namespace: Namespace) throws(CommandFailure) -> OwnSession {
        let status = try caller().call(AskStatus()).reply
        guard status.kind == nil, status.credential != nil, !status.protection else {
            return try verifyPasscode(
                .resource(namespace), audience: [.walletVault],
                to: "unlock namespace \(namespace.text)")
        }
        _ = try caller().call(Unlock())
        return try verify(
            .resource(namespace), audience: [.walletVault],
            to: "unlock namespace \(namespace.text)")
    }
}
