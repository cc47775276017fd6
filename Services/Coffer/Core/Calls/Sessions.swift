internal import AuthorityMessages
internal import Secrets
internal import Tokens
internal import Wire

/// A session that a right passcode started.
struct OwnSession {
    let token: [UInt8]
    let scope: Scope
    /// The services that let it in.
    let audience: [ServiceName]
    let remainingMilliseconds: UInt64
    /// Tries that failed since the right passcode before this one.
    let failedBefore: UInt64
    /// The newest of them, oldest first.
    var tries: [FailedTry] = []
}

extension AskStatus.Reply {
    /// Whether wallets open without a passcode now.
    var needsNoPasscode: Bool {
        credential != nil && !protection && (kind == nil || unlocked)
    }
}

extension CommandRun {
    /// How the owner's credential stands; failing where it has no passcode to try.
    func credential() throws(CommandFailure) -> AskStatus.Reply {
        let status = try caller().call(AskStatus()).reply
        guard status.kind != nil else {
            throw CommandFailure(CredentialFault.noPasscode.refusal, kind: .read)
        }
        return status
    }

    /// Starts a session: without a passcode where none is needed, else with the one asked for.
    ///
    /// In a cooldown nobody is asked and nothing is sent.
    ///
    /// - Parameters:
    ///   - purpose: what follows "is needed to".
    ///   - isSparedByUnlock: whether a kept session would have done.
    func verify(
        _ scope: Scope, audience: [ServiceName], to purpose: String,
        isSparedByUnlock: Bool = false
    ) throws(CommandFailure) -> OwnSession {
        let status = try caller().call(AskStatus()).reply
        // A passcode that was handed over is tried, not passed over.
        if scope.namespace != nil, status.needsNoPasscode,
            status.kind == nil || !invocation.has(.passcodeDescriptor)
        {
            return try openUnprotected(scope, audience: audience)
        }
        return try verifyPasscode(
            scope, audience: audience, to: purpose, isSparedByUnlock: isSparedByUnlock)
    }

    private func openUnprotected(
        _ scope: Scope, audience: [ServiceName]
    ) throws(CommandFailure) -> OwnSession {
        let answer = try caller().call(OpenSession(scope: scope, audience: audience))
        guard let token = answer.attachments.first else {
            throw CommandFailure(BusFault.badReply.refusal, kind: .fresh)
        }
        let session = OwnSession(
            token: token.bytes.withBytes { Array($0) }, scope: scope,
            audience: audience,
            remainingMilliseconds: answer.reply.remainingMilliseconds, failedBefore: 0)
        own(session)
        return session
    }

    /// Asks for the passcode and starts a session with it.
    func verifyPasscode(
        _ scope: Scope, audience: [ServiceName], to purpose: String,
        isSparedByUnlock: Bool = false
    ) throws(CommandFailure) -> OwnSession {
        let status = try credential()
        guard status.remainingMilliseconds == 0 else {
            throw Self.coolingDown(status.remainingMilliseconds)
        }
        let passcode = try passcode(to: purpose, isSparedByUnlock: isSparedByUnlock)
        let answer = try check(
            passcode, Verify(scope: scope, audience: audience, credential: status.credential))
        switch answer.reply {
        case .verified(let remaining, let failed, let tries):
            guard let token = answer.attachments.first else {
                throw CommandFailure(BusFault.badReply.refusal, kind: .fresh)
            }
            if failed > 0 { note(FailedTries.sentence(failed, tries)) }
            let session = OwnSession(
                token: token.bytes.withBytes { Array($0) }, scope: scope,
                audience: audience, remainingMilliseconds: remaining, failedBefore: failed,
                tries: tries)
            own(session)
            return session
        case .wrong(let failed, let remaining): throw Self.wrong(failed, remaining)
        case .coolingDown(let remaining, _): throw Self.coolingDown(remaining)
        }
    }

    /// Has a passcode checked.
    ///
    /// A check whose answer is lost has no key to ask with: all that it can have left is a counted
    /// attempt.
    private func check(
        _ passcode: SharedSecret, _ request: Verify
    ) throws(CommandFailure) -> Answer<Verify> {
        do throws(CommandFailure) {
            return try caller().call(request, attachments: [passcode])
        } catch {
            let how: String
            switch BusFault(rawValue: error.code) {
            case .lost: how = "The connection broke while the passcode was checked."
            case .expired: how = "The passcode was not checked in time."
            default: throw error
            }
            var failure = error
            failure.refusal.message =
                "\(how) Nothing was changed, but one attempt may have been counted: `coffer "
                + "status` tells. `deploy/launch status` shows how credential-authority is; then "
                + "run this again."
            throw failure
        }
    }

    /// Does something under a resource session: the kept one, else one for this run;
    /// where --passcode-fd gives a passcode, always one for this run.
    ///
    /// A kept session that is not let in any more is dropped and the passcode asked for, once. What
    /// `coffer unlock` keeps is for the vault alone.
    ///
    /// - Parameter audience: the services that have to let the session in.
    func withResource<R>(
        to purpose: String, audience: [ServiceName] = [.walletVault],
        _ body: ([UInt8]) throws(CommandFailure) -> R
    ) throws(CommandFailure) -> R {
        let namespace = try namespace()
        let own = ownSessions.first {
            $0.scope == .resource(namespace) && Set(audience).isSubset(of: $0.audience)
        }
        if let own { return try body(own.token) }
        let tokens = try tokens()
        let isKept = audience == [.walletVault]
        // A passcode that was handed over is tried, not passed over.
        if isKept, !invocation.has(.passcodeDescriptor),
            let token = tokens.token(of: namespace)
        {
            do throws(CommandFailure) {
                return try body(token)
            } catch {
                guard error.meansSessionIsOver else { throw error }
                tokens.drop(namespace)
            }
        }
        let session = try verify(
            .resource(namespace), audience: audience, to: purpose, isSparedByUnlock: isKept)
        return try body(session.token)
    }

    /// Ends the sessions that this run opened for itself.
    ///
    /// Where that fails they end by themselves within minutes, and nobody has their tokens.
    ///
    /// - Parameter failed: whether the verb failed. Else its proofs ended with their one use.
    func endOwnSessions(failed: Bool = false) {
        for session in ownSessions where failed || !session.scope.isProof {
            _ = try? caller().call(Revoke(), token: session.token)
        }
        disownSessions()
    }

    static func coolingDown(_ milliseconds: UInt64) -> CommandFailure {
        CommandFailure(
            .coolingDown,
            "After too many wrong passcodes the next one is taken in "
                + "\(ShownText.seconds(milliseconds)). Nothing was tried.",
            retryAfterMilliseconds: milliseconds)
    }

    private static func wrong(_ failed: UInt64, _ milliseconds: UInt64) -> CommandFailure {
        var message = "The passcode is wrong. \(FailedTries.counted(failed))"
        if milliseconds > 0 {
            message += " The next one is taken in \(ShownText.seconds(milliseconds))."
        }
        return CommandFailure(
            .wrongPasscode, message,
            retryAfterMilliseconds: milliseconds > 0 ? milliseconds : nil)
    }
}
