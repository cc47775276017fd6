internal import AuthorityMessages
internal import Secrets
internal import Tokens
internal import Wire

extension Verb {
    static let passcodeSet = Verb(
        "passcode set", options: [.kind] + CommandOption.asking,
        summary: "Set the first passcode of an owner.",
        help: """
            The passcode is asked for twice, or read once from --passcode-fd. Nothing is sent when \
            it does not have the form of its kind. An owner who has a passcode changes it with \
            `coffer passcode change`.
            """
    ) { run throws(CommandFailure) in
        let status = try run.caller().call(AskStatus()).reply
        guard status.kind == nil else { throw CommandFailure(.passcodeSet) }
        let kind = try run.passcodeKind() ?? .alphanumeric
        let code = try run.newPasscode(kind, from: .passcodeDescriptor)
        return try run.setPasscode(code, kind: kind, token: [])
    }

    static let passcodeChange = Verb(
        "passcode change",
        options: [.kind, .newPasscodeDescriptor] + CommandOption.asking,
        summary: "Set another passcode; every session ends.",
        help: """
            Asks for the passcode and, twice, for the new one; or reads them from --passcode-fd \
            and --new-passcode-fd. Before the change the earlier passcode works, after it the new \
            one, whatever breaks in between.
            """
    ) { run throws(CommandFailure) in
        let status = try run.credential()
        guard status.remainingMilliseconds == 0 else {
            throw CommandRun.coolingDown(status.remainingMilliseconds)
        }
        let kind = try run.passcodeKind() ?? status.kind ?? .alphanumeric
        _ = try run.passcode(to: "change it")
        let code = try run.newPasscode(kind, from: .newPasscodeDescriptor)
        let session = try run.verify(.managePasscode, audience: [], to: "change it")
        return try run.setPasscode(code, kind: kind, token: session.token)
    }

    static let passcodeDisable = Verb(
        "passcode disable", options: CommandOption.asking,
        summary: "Remove the passcode; every session ends.",
        help: """
            Wallets then open without a passcode: whoever reads the authority's and the vault's \
            folders has them. The sign policy goes back to its default. Asks for the passcode \
            once. `coffer passcode set` protects the wallets again.
            """
    ) { run throws(CommandFailure) in
        let session = try run.verify(.managePasscode, audience: [], to: "remove it")
        let caller = try run.caller()
        let changed = try caller.change(
            DisablePasscode(), key: caller.newKey(), token: session.token)
        run.disownSessions()
        _ = try run.tokens().dropAll()
        let text = "The passcode is removed, and the wallets open without one."
        switch changed {
        case .answered(let reply): return Report(text, reply)
        case .done: return Report(text) { $0.bool("done", true) }
        }
    }

    static let protectionOn = Verb(
        "protection on", options: CommandOption.asking,
        summary: "Let wallets open with the passcode only.",
        help: "The default since a passcode was set. Asks for the passcode once."
    ) { run throws(CommandFailure) in try run.setProtection(true) }

    static let protectionOff = Verb(
        "protection off", options: CommandOption.asking,
        summary: "Let wallets open without the passcode once the owner is unlocked.",
        help: """
            The passcode stays and unlocks the owner; after that no wallet asks for it until \
            `coffer lock`. The authority's store then holds the access key: whoever reads it and \
            the vault's needs no passcode. Asks for the passcode once.
            """
    ) { run throws(CommandFailure) in try run.setProtection(false) }

    static let passcodeStatus = Verb(
        "passcode status",
        summary: "Show how the owner's passcode stands.",
        help: "Needs no passcode and charges nothing."
    ) { run throws(CommandFailure) in
        let status = try run.caller().call(AskStatus()).reply
        let rows = [
            ["passcode", status.kind.map { "set (\($0.text))" } ?? "not set"],
            ["protection", status.protection ? "on" : "off"],
            ["unlocked", status.unlocked ? "yes" : "no"],
            ["failed attempts", status.shownFailed], ["wait", status.shownWait],
        ]
        return Report(TextTable.lines(rows + FailedTries.rows(status.tries)), status)
    }
}

extension CommandRun {
    fileprivate func passcodeKind() throws(CommandFailure) -> PasscodeKind? {
        guard let text = invocation[.kind] else { return nil }
        guard let kind = PasscodeKind(text) else {
            throw .usage("--kind wants digits4, digits6 or alphanumeric.")
        }
        return kind
    }

    fileprivate func setProtection(_ protection: Bool) throws(CommandFailure) -> Report {
        let session = try verify(
            .settings, audience: [], to: "turn protection \(protection ? "on" : "off")")
        let caller = try caller()
        let changed = try caller.change(
            SetProtection(protection: protection), key: caller.newKey(), token: session.token)
        // Every session but the one of this run is over.
        _ = try tokens().dropAll()
        let text =
            protection
            ? "Protection is on: wallets open with the passcode only."
            : "Protection is off: wallets open without the passcode while the owner is unlocked."
        switch changed {
        case .answered(let reply): return Report(text, reply)
        case .done: return Report(text) { $0.bool("protection", protection) }
        }
    }

    /// A new passcode that has the shape of its kind.
    fileprivate func newPasscode(
        _ kind: PasscodeKind, from option: CommandOption
    ) throws(CommandFailure) -> SharedSecret {
        let code = try secret(
            SecretQuestion(
                description: "Choose the new passcode of owner \(try owner().text) "
                    + "(\(kind.text)).",
                prompt: "New passcode", isNew: true, option: option))
        if let fault = PasscodeShape.fault(of: code.bytes, kind: kind) { throw .usage(fault) }
        if let warning = PasscodeShape.warning(of: code.bytes) { note(warning) }
        return code
    }

    fileprivate func setPasscode(
        _ code: SharedSecret, kind: PasscodeKind, token: [UInt8]
    ) throws(CommandFailure) -> Report {
        let caller = try caller()
        let changed = try caller.change(
            SetPasscode(passcodeKind: kind), key: caller.newKey(), token: token,
            attachments: [code])
        // A change ends every session, so what is kept opens nothing any more.
        _ = try tokens().dropAll()
        switch changed {
        case .answered(let reply):
            return Report(
                "The passcode is set (\(kind.text), \(reply.iterations) rounds). "
                    + "`coffer unlock` opens the wallets.", reply)
        case .done:
            return Report("The passcode is set (\(kind.text)).") { $0.bool("done", true) }
        }
    }
}
