internal import AuthorityMessages
internal import Clocks
internal import LimiterMessages
internal import Secrets
internal import Serving
internal import Tokens
internal import Wire

/// What a new passcode rests on.
struct PasscodeGround {
    let owner: Owner
    let record: CredentialRecord
    let enrolment: EnrolmentID
    let accessKey: SharedSecret
    /// The session that authorises a change; nil where the first passcode is set.
    let session: SessionID?
}

extension AuthorityService {
    /// Sets the first passcode of an owner, or changes it.
    ///
    /// One write of the record is the whole change: before it the earlier passcode works, or none
    /// is set; after it the new one. What comes before may be repeated, so a change that broke off
    /// is simply entered again.
    func setPasscode(_ call: Call<SetPasscode>) async throws -> Answer<SetPasscode> {
        let owner = call.owner
        guard changing.insert(owner).inserted else { throw CredentialFault.busyChanging }
        defer { changing.remove(owner) }
        try refuseWhileRemoving(owner)
        let kind = call.request.passcodeKind
        let code = SharedSecret(try PasscodeText.ofSetup(call.attachments[0].bytes, kind))
        let ground = try await ground(for: call)
        try await attempts.enter(owner)
        let passcode: CredentialRecord.Passcode
        do {
            defer {
                attempts.freeThread()
                attempts.end(owner)
            }
            guard clock.now.nanoseconds < call.deadline else { throw BusFault.overdue }
            passcode = try await wrap(code, kind, ground)
        }
        guard clock.now.nanoseconds < call.deadline else { throw BusFault.overdue }
        let answer = try commit(passcode, ground, for: call)
        _ = registry.revokeAll(of: owner)
        try await group.committed()
        await wait(until: registry.leasesClosed(of: owner))
        return answer
    }

    // MARK: Who may, and on what

    private func ground(for call: Call<SetPasscode>) async throws -> PasscodeGround {
        if let stored = try store.credential(of: call.owner), stored.record.passcode != nil {
            return try changeGround(stored, for: call)
        }
        return try await firstGround(of: call.owner) { newRecord() }
    }

    private func changeGround(
        _ stored: StoredCredential, for call: Call<SetPasscode>
    ) throws -> PasscodeGround {
        guard call.session != nil else { throw CredentialFault.notAuthorised }
        let session = try ownSession(of: call)
        guard SessionRules.mayChangePasscode(session.claims), let accessKey = session.accessKey
        else { throw CredentialFault.notAuthorised }
        guard let enrolment = stored.enrolment else { throw CredentialFault.secretMissing }
        return PasscodeGround(
            owner: call.owner, record: stored.record, enrolment: enrolment,
            accessKey: accessKey, session: session.claims.session)
    }

    /// Sees to it that the owner has a record, and the limiter a device secret under its key.
    ///
    /// - Parameter record: what is made where there is none.
    func firstGround(
        of owner: Owner, making record: () -> CredentialRecord
    ) async throws -> PasscodeGround {
        let drawn = try await challenge(of: owner, making: record)
        guard let record = try store.credential(of: owner)?.record,
            let accessKey = record.unprotectedKey
        else { throw CredentialFault.stale }
        return PasscodeGround(
            owner: owner, record: record,
            enrolment: try await enrol(drawn.challenge, accessKey, owner), accessKey: accessKey,
            session: nil)
    }

    /// Draws a challenge, and makes a record without a passcode where neither store knows the
    /// owner.
    func challenge(
        of owner: Owner, making record: () -> CredentialRecord
    ) async throws -> DrawChallenge.Reply {
        let drawn = try await challengeOfStranger(owner)
        if try store.credential(of: owner) == nil {
            guard drawn.enrolment == nil else { throw CredentialFault.missing }
            try await write(record(), of: owner)
        }
        return drawn
    }

    /// Draws a challenge; a limiter that still knows an enrolment that was forgotten is told again.
    private func challengeOfStranger(_ owner: Owner) async throws -> DrawChallenge.Reply {
        let drawn = try await limiter.challenge(owner)
        guard let known = drawn.enrolment, try store.isForgotten(known, of: owner) else {
            return drawn
        }
        do throws(LimiterTrouble) {
            _ = try await limiter.askUntilAnswered(Forget(enrolment: known), of: owner)
        } catch {
            throw error.fault
        }
        return try await limiter.challenge(owner)
    }

    /// Writes a record without a passcode, and goes on when it is durable.
    ///
    /// It is no part of the change that the outcome tells: without a passcode beside it, it is what
    /// an owner without a record is.
    private func write(_ record: CredentialRecord, of owner: Owner) async throws {
        try group.write {
            try store.save(
                StoredCredential(record: record, enrolment: nil, charge: 0), of: owner)
        }
        try await group.committed()
    }

    /// A record of an access key that nobody had before.
    func newRecord() -> CredentialRecord {
        let accessKey = SharedSecret(random.secret(CredentialRecord.accessKeyBytes))
        return CredentialRecord(newWith: random.uuid(), accessKey: accessKey)
    }

    private func enrol(
        _ challenge: [UInt8], _ accessKey: SharedSecret, _ owner: Owner
    ) async throws -> EnrolmentID {
        let key = try ConfirmKey(accessKey: accessKey.bytes)
        let request = Enrol(
            challenge: challenge, confirmKey: key.publicKey,
            signature: key.sign(.enrol, owner, challenge))
        do throws(LimiterTrouble) {
            return try await limiter.ask(request, of: owner).reply.enrolment
        } catch {
            throw error.fault
        }
    }

    // MARK: The new wrapper, and the one write

    func wrap(
        _ code: SharedSecret, _ kind: PasscodeKind, _ ground: PasscodeGround
    ) async throws -> CredentialRecord.Passcode {
        let iterations = await calibration.iterations()
        let password = try await limiter.prove(
            code, enrolment: ground.enrolment, accessKey: ground.accessKey, of: ground.owner)
        let salt = random.bytes(CredentialRecord.Passcode.saltBytes)
        metrics.count("kdf_runs")
        let key = await kdf.derive(password: password, salt: salt, iterations: iterations)
        do throws(PasscodeWrapperError) {
            let wrapped = try PasscodeWrapper.seal(
                ground.accessKey.bytes, under: key.bytes, nonce: random.bytes(12),
                credential: ground.record.id, kind: kind)
            return CredentialRecord.Passcode(
                kind: kind, salt: salt, iterations: iterations, wrappedKey: wrapped)
        } catch {
            throw CredentialFault.damaged
        }
    }

    /// Checks once more that record and authorisation are what they were, and writes.
    private func commit(
        _ passcode: CredentialRecord.Passcode, _ ground: PasscodeGround,
        for call: Call<SetPasscode>
    ) throws -> Answer<SetPasscode> {
        let isFirst = ground.record.passcode == nil
        var stored = try changed(by: passcode, ground)
        if isFirst {
            stored.record.protection = true
            stored.record.unprotectedKey = nil
        }
        let changed = stored
        // Either the key in clear or the wrapper under the earlier passcode leaves the record.
        return try group.change(call, erasing: true) {
            try store.save(changed, of: ground.owner)
            return SetPasscode.Reply(
                credential: changed.record.id, revision: changed.record.revision,
                iterations: passcode.iterations)
        }
    }

    /// The credential with its new passcode, if record and authorisation are still what they were.
    func changed(
        by passcode: CredentialRecord.Passcode, _ ground: PasscodeGround
    ) throws -> StoredCredential {
        guard var stored = try store.credential(of: ground.owner),
            stored.record.id.utf8.elementsEqual(ground.record.id.utf8),
            stored.record.revision == ground.record.revision
        else { throw CredentialFault.stale }
        if let session = ground.session, registry.live(session) == nil {
            throw SessionFault.ended
        }
        stored.record.passcode = passcode
        stored.record.managedPasscode = true
        stored.record.revision = stored.record.nextRevision
        if stored.enrolment != ground.enrolment {
            stored.enrolment = ground.enrolment
            stored.charge = 0
        }
        return stored
    }
}
