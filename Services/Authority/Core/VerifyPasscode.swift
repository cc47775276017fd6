internal import AuthorityMessages
internal import Clocks
internal import LimiterMessages
internal import Secrets
internal import Serving
internal import Storage
internal import Tokens
internal import Wire

/// What a check rests on, as it stood when it was asked for.
private struct Footing {
    let owner: Owner
    let credential: String
    let revision: UInt64
    let passcode: CredentialRecord.Passcode
    let enrolment: EnrolmentID
    /// From ``LockWatch``.
    let lockMark: UInt64
    /// What the peer who tries is called.
    let peer: String
}

/// What came of the slow part of a check.
private enum Evaluation {
    case opened(SharedSecret, Charged)
    case wrong
    case coolingDown(remainingMilliseconds: UInt64, failed: UInt64)
}

/// An attempt that the limiter has counted.
private struct Charged {
    let attempt: AttemptID
    /// From ``AuthorityStore/note(_:of:)``.
    let number: Int64
}

/// What has happened to a footing since.
private enum Movement {
    case none
    /// The owner was locked; the credential is the same.
    case locked
    /// The credential is another one.
    case changed
}

extension AuthorityService {
    /// Tries a passcode.
    ///
    /// What is structurally wrong is refused before anything is charged. From the charge on, a
    /// check runs to its end even if its caller is gone, and no session exists before the limiter
    /// has acknowledged that the passcode was right.
    func verify(_ call: Call<Verify>) async throws -> Answer<Verify> {
        let owner = call.owner
        try SessionRules.check(call.request.scope, for: call.peer.role)
        try SessionRules.check(call.request.audience, for: call.request.scope)
        try SessionRules.check(call.request.lifetime, for: call.request.scope)
        try refuseWhileRemoving(owner)
        let mark = locks.begin(owner)
        defer { locks.end(owner) }
        guard let footing = try footing(for: call, mark) else {
            throw try await absence(of: owner)
        }
        let code = SharedSecret(
            try PasscodeText.ofAttempt(call.attachments[0].bytes, footing.passcode.kind))
        try registry.reserve()
        defer { registry.release() }
        try await attempts.enter(owner)
        defer { attempts.end(owner) }
        switch try await evaluate(code, footing, deadline: call.deadline) {
        case .coolingDown(let remaining, let failed):
            return Answer(.coolingDown(remainingMilliseconds: remaining, failed: failed))
        case .wrong:
            metrics.count("wrong_passcodes")
            return Answer(await wrongReply(owner))
        case .opened(let accessKey, let charged):
            return try await open(call, footing, accessKey, charged)
        }
    }

    // MARK: Before the charge

    /// Reads the record and refuses what is no attempt; nil for an owner without a record.
    private func footing(for call: Call<Verify>, _ mark: UInt64) throws -> Footing? {
        guard let stored = try store.credential(of: call.owner) else { return nil }
        let record = stored.record
        guard let passcode = record.passcode else { throw CredentialFault.noPasscode }
        if let credential = call.request.credential, !credential.utf8.elementsEqual(record.id.utf8)
        {
            throw CredentialFault.stale
        }
        guard PasscodeWrapper.iterationsAllowed.contains(passcode.iterations),
            record.id.utf8.count <= Claims.credentialLimit
        else { throw CredentialFault.damaged }
        guard let enrolment = stored.enrolment else { throw CredentialFault.secretMissing }
        guard stored.hasChargesLeft else { throw CredentialFault.attemptsDamaged }
        return Footing(
            owner: call.owner, credential: record.id, revision: record.revision,
            passcode: passcode, enrolment: enrolment, lockMark: mark, peer: call.peer.name)
    }

    /// Why an owner has no record: nothing was ever set, or the stores do not match.
    private func absence(of owner: Owner) async throws -> any Fault {
        let standing: Standing
        do throws(LimiterTrouble) {
            standing = try await limiter.standing(of: owner)
        } catch {
            return error.fault
        }
        guard try store.credential(of: owner) == nil else { return CredentialFault.stale }
        return try isKnown(standing.enrolment, of: owner)
            ? CredentialFault.missing : CredentialFault.noPasscode
    }

    // MARK: The charge and the derivation

    /// Charges one attempt and tries the code; the caller has a thread, which is free afterwards.
    private func evaluate(
        _ code: SharedSecret, _ footing: Footing, deadline: UInt64
    ) async throws -> Evaluation {
        defer { attempts.freeThread() }
        guard clock.now.nanoseconds < deadline else { throw BusFault.overdue }
        guard let stored = try store.credential(of: footing.owner),
            try movement(since: footing) == .none
        else { throw CredentialFault.stale }
        let begin = Begin(
            enrolment: footing.enrolment, nonce: random.bytes(16), lastCharge: stored.charge)
        let answer: Answer<Begin>
        do throws(LimiterTrouble) {
            answer = try await limiter.ask(begin, of: footing.owner, attachments: [code])
        } catch {
            return try await refused(error, footing)
        }
        switch answer.reply {
        case .coolingDown(let remaining, let failed):
            return .coolingDown(remainingMilliseconds: remaining, failed: failed)
        case .charged(let attempt, let charge):
            guard let password = LimiterLink.evaluation(answer.attachments) else {
                throw CredentialFault.limiterSilent
            }
            let charged = Charged(attempt: attempt, number: try note(charge, footing))
            openTries.begin(charged.number, of: footing.owner)
            var isOpened = false
            defer { if !isOpened { openTries.end(charged.number, of: footing.owner) } }
            try await group.committed()
            let evaluation = try await unwrap(password, footing, charged)
            if case .opened = evaluation { isOpened = true }
            return evaluation
        }
    }

    /// A limiter that was rolled back has set its wait: the caller is told that one.
    ///
    /// Where it fell silent the try may be counted, and is kept as one that failed.
    private func refused(
        _ trouble: LimiterTrouble, _ footing: Footing
    ) async throws -> Evaluation {
        if trouble == .silent {
            _ = try group.write { try store.note(failedTry(footing), of: footing.owner) }
        }
        guard trouble == .said(.rolledBack) else {
            throw try fault(of: trouble.faultAfterCharge, footing)
        }
        do throws(LimiterTrouble) {
            let standing = try await limiter.standing(of: footing.owner)
            return .coolingDown(
                remainingMilliseconds: standing.remainingMilliseconds, failed: standing.failed)
        } catch {
            return .coolingDown(remainingMilliseconds: 60_000, failed: 6)
        }
    }

    /// Goes on only with a charge newer than every one before; the caller, once that is durable.
    ///
    /// An answer of an earlier life, or a second copy of one, is dropped here. Where the check
    /// breaks off, the try stands as one that failed.
    private func note(_ charge: UInt64, _ footing: Footing) throws -> Int64 {
        guard let stored = try store.credential(of: footing.owner),
            stored.enrolment == footing.enrolment, charge > stored.charge,
            charge <= Begin.chargeLimit
        else { throw CredentialFault.overtaken }
        return try group.write {
            try store.raiseCharge(to: charge, of: footing.owner)
            return try store.note(failedTry(footing), of: footing.owner)
        }
    }

    private func failedTry(_ footing: Footing) -> FailedTry {
        FailedTry(atMilliseconds: wallClock.milliseconds, peer: footing.peer)
    }

    private func unwrap(
        _ password: SharedSecret, _ footing: Footing, _ charged: Charged
    ) async throws -> Evaluation {
        let passcode = footing.passcode
        metrics.count("kdf_runs")
        let key = await kdf.derive(
            password: password, salt: passcode.salt, iterations: passcode.iterations)
        do throws(PasscodeWrapperError) {
            let accessKey = try PasscodeWrapper.open(
                passcode.wrappedKey, under: key.bytes, credential: footing.credential,
                kind: passcode.kind)
            return .opened(SharedSecret(accessKey), charged)
        } catch {
            guard error == .wrongKey else { throw CredentialFault.damaged }
            return .wrong
        }
    }

    /// The count after a wrong passcode; where the limiter cannot be asked, at least this one.
    private func wrongReply(_ owner: Owner) async -> Verify.Reply {
        do throws(LimiterTrouble) {
            let standing = try await limiter.standing(of: owner)
            return .wrong(
                failed: standing.failed, remainingMilliseconds: standing.remainingMilliseconds)
        } catch {
            return .wrong(failed: 1, remainingMilliseconds: 0)
        }
    }

    // MARK: The right passcode

    /// Confirms, and then makes the session in the step that looks at record and lock once more.
    ///
    /// The tries before are dropped in the same step, so that they are told once; where the session
    /// is not made they stay for the next one. Those that are still being checked are not told.
    private func open(
        _ call: Call<Verify>, _ footing: Footing, _ accessKey: SharedSecret, _ charged: Charged
    ) async throws -> Answer<Verify> {
        // After a mere lock the passcode was right all the same, and its charge is dropped.
        defer { openTries.end(charged.number, of: footing.owner) }
        guard try movement(since: footing) != .changed else { throw CredentialFault.overtaken }
        let openBefore = openTries.of(footing.owner).count { $0 < charged.number }
        let counted = try await confirm(charged.attempt, accessKey, footing)
        let failedBefore = counted - min(counted, UInt64(openBefore))
        try group.write { try store.dropTry(charged.number, of: footing.owner) }
        guard try movement(since: footing) == .none else { throw CredentialFault.stale }
        guard clock.now.nanoseconds < call.deadline else { throw BusFault.expired }
        let open = openTries.of(footing.owner)
        let tries = try store.tries(of: footing.owner, before: charged.number, without: open)
        try group.write {
            try store.dropTries(upTo: charged.number, of: footing.owner, without: open)
        }
        let scope = call.request.scope
        let (session, token) = try registry.open(
            SessionRegistry.Draft(
                owner: footing.owner, scope: scope, audience: call.request.audience,
                holder: call.peer.key, credential: footing.credential,
                revision: footing.revision,
                accessKey: scope == .appUnlock ? nil : accessKey,
                lifetime: call.request.lifetime, holderName: call.peer.name))
        registry.openGate(of: footing.owner)
        return Answer(
            .verified(
                remainingMilliseconds: registry.remainingMilliseconds(of: session),
                failedBefore: max(failedBefore, UInt64(tries.count)), tries: tries),
            attachments: [SharedSecret(SecretBytes(copying: token))])
    }

    /// Tells the limiter that the passcode was right; a repeat carries the same signature.
    ///
    /// - Returns: how many attempts had failed before.
    private func confirm(
        _ attempt: AttemptID, _ accessKey: SharedSecret, _ footing: Footing
    ) async throws -> UInt64 {
        let owner = footing.owner
        let key = try ConfirmKey(accessKey: accessKey.bytes)
        let request = Confirm(
            attempt: attempt, signature: key.sign(.confirm, owner, attempt.bytes))
        do throws(LimiterTrouble) {
            return try await limiter.askUntilAnswered(request, of: owner).failedBefore
        } catch {
            // The charge stands, or was dropped without anybody hearing of it.
            guard error != .unreachable else { throw CredentialFault.limiterSilent }
            throw try fault(of: error.faultAfterCharge, footing)
        }
    }

    /// What a caller is told of a fault that came of the limiter's answer.
    ///
    /// A limiter that does not know an owner who is being removed, or who has another credential
    /// since, has lost nothing.
    private func fault(of fault: any Fault, _ footing: Footing) throws -> any Fault {
        guard let missing = fault as? CredentialFault, missing == .secretMissing else {
            return fault
        }
        try refuseWhileRemoving(footing.owner)
        return try movement(since: footing) == .changed ? CredentialFault.stale : missing
    }

    private func movement(since footing: Footing) throws -> Movement {
        guard let stored = try store.credential(of: footing.owner),
            stored.record.id.utf8.elementsEqual(footing.credential.utf8),
            stored.record.revision == footing.revision, stored.enrolment == footing.enrolment
        else { return .changed }
        return locks.wasLocked(footing.owner, since: footing.lockMark) ? .locked : .none
    }
}
