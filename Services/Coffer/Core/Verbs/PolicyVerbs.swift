internal import AuthorityMessages
internal import Tokens
internal import Wire

extension Verb {
    static let signPolicyShow = Verb(
        "sign-policy show",
        summary: "Show what a signature needs.",
        help: "`proof`: the passcode, every time. `session`: an unlocked namespace."
    ) { run throws(CommandFailure) in
        let reply = try run.caller().call(AskSignPolicy()).reply
        return Report(reply.policy.text, reply)
    }

    static let signPolicyProof = Verb(
        "sign-policy proof", options: CommandOption.asking,
        summary: "Ask for the passcode at every signature.",
        help: "The default. Asks for the passcode once to change the policy."
    ) { run throws(CommandFailure) in try run.setSignPolicy(.proof) }

    static let signPolicySession = Verb(
        "sign-policy session", options: CommandOption.asking,
        summary: "Let an unlocked session sign, as a hot wallet does.",
        help: """
            Whoever reaches an unlocked session may then sign without the passcode until the \
            session is over. Asks for the passcode once to change the policy.
            """
    ) { run throws(CommandFailure) in try run.setSignPolicy(.session) }

    static let attemptsRepair = Verb(
        "attempts repair",
        summary: "Mend an attempts record that is missing or cannot be read.",
        help: """
            Sets it to six failed attempts and a fresh wait of 60 s, so nothing is gained by \
            damaging it. Numbers of attempts that are past their end are begun anew at the same \
            price. A record that can be read stays as it is.
            """
    ) { run throws(CommandFailure) in
        let reply = try run.caller().call(RepairOwnerAttempts()).reply
        return Report(
            "The record now counts "
                + ShownText.count(reply.failed, "failed attempt", "failed attempts")
                + "; the next passcode is taken in "
                + "\(ShownText.seconds(reply.remainingMilliseconds)).", reply)
    }
}

extension CommandRun {
    fileprivate func setSignPolicy(_ policy: SignPolicy) throws(CommandFailure) -> Report {
        let session = try verify(.settings, audience: [], to: "change the sign policy")
        let caller = try caller()
        _ = try caller.change(
            SetSignPolicy(policy: policy), key: caller.newKey(), token: session.token)
        let text =
            switch policy {
            case .proof: "Every signature needs the passcode."
            case .session: "An unlocked session may sign."
            }
        return Report(text, SignPolicyReply(policy: policy))
    }
}
