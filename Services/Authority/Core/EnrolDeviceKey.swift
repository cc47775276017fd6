internal import AuthorityMessages
internal import Clocks
internal import DeviceKeyFrames
internal import Loop
internal import Secrets
internal import Serving
internal import Tokens
internal import Wire

/// What a change of the token's route rests on.
private struct RouteGround {
    let owner: Owner
    let session: SessionID
    let accessKey: SharedSecret
    let credential: String
    let revision: UInt64
}

/// The token that a change is about, and how long it may take.
private struct TokenUse {
    let token: String
    let pin: SharedSecret?
    /// When the caller stops waiting, in nanoseconds on the boot clock.
    let deadline: UInt64
}

extension AuthorityService {
    /// Puts a copy of the access key with a token, in the passcode document's six steps.
    ///
    /// The route that was committed before stands until the fifth, which is one write; what comes
    /// before it is journalled in the record and deleted later where it broke off.
    func enrolDeviceKey(_ call: Call<EnrolDeviceKey>) async throws -> Answer<EnrolDeviceKey> {
        let ground = try routeGround(for: call)
        try enterToken(of: ground.owner)
        defer { tokensInUse.remove(ground.owner) }
        let use = TokenUse(
            token: call.request.token, pin: call.attachments.first, deadline: call.deadline)
        let account = try await announce(ground, use)
        var copy = try await make(account, ground, use, form: call.request.form)
        do {
            try await prove(copy, ground, use)
            copy.check = try DeviceCopy.check(of: ground.accessKey.bytes, account: account)
            let answer = try commit(copy, ground, for: call)
            try await group.committed()
            await wait(until: registry.leasesClosed(of: ground.owner))
            // It is in force whatever becomes of what it replaced.
            try? await deleteWaiting(of: ground.owner, use)
            return answer
        } catch {
            // Of the committed route nothing is deleted: its account is not among what waits.
            try? await deleteWaiting(of: ground.owner, use)
            throw error
        }
    }

    /// Takes the route away, and then deletes on one token what waits for that.
    func removeDeviceKey(_ call: Call<RemoveDeviceKey>) async throws -> Answer<RemoveDeviceKey> {
        let ground = try routeGround(for: call)
        let owner = ground.owner
        try enterToken(of: owner)
        defer { tokensInUse.remove(owner) }
        var stored = try credential(for: ground)
        let copies = try store.deviceCopies(of: owner)
        let isCommitted = stored.record.biometricAccount != nil
        // Of several tokens one has this PIN.
        let first = stored.record.biometricAccount ?? stored.record.biometricCleanup.first
        let token = copies.first { $0.account == first }?.token
        stored.record.retireBiometrics()
        if call.request.lost { stored.record.biometricCleanup = [] }
        if isCommitted { stored.record.revision = stored.record.nextRevision }
        let changed = stored
        let answer = try group.change(call) {
            try store.save(changed, of: owner)
            return RemoveDeviceKey.Reply(
                removed: isCommitted, revision: changed.record.revision)
        }
        if isCommitted { endOthers(of: ground, now: changed.record.revision) }
        try await group.committed()
        if isCommitted { await wait(until: registry.leasesClosed(of: owner)) }
        if let token, !call.request.lost {
            let use = TokenUse(
                token: token, pin: call.attachments.first, deadline: call.deadline)
            try? await deleteWaiting(of: owner, use)
        }
        return answer
    }

    /// Makes of every enrolment that an earlier run left behind something to be deleted.
    ///
    /// Deleting takes the token's PIN, which is kept nowhere: it is done before the next change.
    func retireBrokenEnrolments() {
        for owner in (try? store.ownersWithDeviceCopies()) ?? [] {
            guard var stored = try? store.credential(of: owner),
                stored.record.pendingBiometricAccount != nil
            else { continue }
            stored.record.retirePendingBiometrics()
            let changed = stored
            do { try group.write { try store.save(changed, of: owner) } } catch {
                metrics.count("enrolments_left_pending")
            }
        }
    }

    // MARK: The steps

    /// Deletes what waits for that, and journals the account before anything is made.
    private func announce(_ ground: RouteGround, _ use: TokenUse) async throws -> String {
        guard try credential(for: ground).record.protection else {
            throw DeviceKeyFault.unprotected
        }
        // Even with nothing to delete the token is asked: a wrong URI or PIN is no enrolment.
        try await deleteWaiting(of: ground.owner, use, asking: true)
        var stored = try credential(for: ground)
        guard stored.record.biometricCleanup.count < AskDeviceKey.waitingLimit else {
            throw DeviceKeyFault.full
        }
        let account = "biometric.\(random.uuid())"
        stored.record.pendingBiometricAccount = account
        let changed = stored
        try group.write {
            try store.save(DeviceCopy(account: account, token: use.token), of: ground.owner)
            try store.save(changed, of: ground.owner)
        }
        try await group.committed()
        return account
    }

    /// Writes the copy; one that may have been written and was not told stays journalled.
    private func make(
        _ account: String, _ ground: RouteGround, _ use: TokenUse, form: DeviceKeyForm?
    ) async throws -> DeviceCopy {
        let binding = DeviceCopy.binding(credential: ground.credential, account: account)
        let answer = try await ask(
            .store(ground.accessKey, name: account, form: form, binding: binding), use)
        guard case .stored(let token, let form, let sealed) = answer else {
            throw DeviceKeyFault.tokenFailed
        }
        return DeviceCopy(account: account, token: token, form: form, sealed: sealed)
    }

    /// Has the token give the copy back, as it will have to, and compares.
    private func prove(_ copy: DeviceCopy, _ ground: RouteGround, _ use: TokenUse) async throws {
        let key = try await release(
            copy, credential: ground.credential, pin: use.pin, deadline: use.deadline)
        guard key.bytes.isEqual(to: ground.accessKey.bytes) else { throw DeviceKeyFault.mismatch }
    }

    /// Looks once more at session, record and journal, and puts the route in force.
    private func commit(
        _ copy: DeviceCopy, _ ground: RouteGround, for call: Call<EnrolDeviceKey>
    ) throws -> Answer<EnrolDeviceKey> {
        var stored = try credential(for: ground)
        guard stored.record.pendingBiometricAccount == copy.account, stored.record.protection,
            let form = copy.form
        else { throw CredentialFault.stale }
        guard clock.now.nanoseconds < call.deadline else { throw BusFault.overdue }
        stored.record.pendingBiometricAccount = nil
        stored.record.retireBiometrics()
        stored.record.biometricAccount = copy.account
        stored.record.revision = stored.record.nextRevision
        let changed = stored
        let answer = try group.change(call) {
            try store.save(copy, of: ground.owner)
            try store.save(changed, of: ground.owner)
            return EnrolDeviceKey.Reply(
                token: copy.token, form: form, revision: changed.record.revision)
        }
        endOthers(of: ground, now: changed.record.revision)
        return answer
    }

    private func endOthers(of ground: RouteGround, now revision: UInt64) {
        registry.advance(ground.session, to: revision)
        registry.revokeAll(of: ground.owner, except: ground.session)
    }

    // MARK: Deleting

    /// Deletes on the token what the journal says, and takes out of the journal what is gone.
    ///
    /// - Throws: ``DeviceKeyFault`` where the token could not be asked; what is on other tokens
    ///   simply waits on.
    private func deleteWaiting(
        of owner: Owner, _ use: TokenUse, asking isAsked: Bool = false
    ) async throws {
        guard var stored = try store.credential(of: owner) else { return }
        stored.record.retirePendingBiometrics()
        let waiting = stored.record.biometricCleanup
        guard isAsked || !waiting.isEmpty else { return }
        let copies = try store.deviceCopies(of: owner).filter { waiting.contains($0.account) }
        let retired = stored
        try group.write { try store.save(retired, of: owner) }
        guard case .deleted(let names) = try await ask(.delete(copies.map(\.made)), use) else {
            throw DeviceKeyFault.tokenFailed
        }
        // Names that no copy has are of another system, and nothing here can delete them.
        let gone = names + waiting.filter { name in !copies.contains { $0.account == name } }
        guard var stored = try store.credential(of: owner) else { return }
        stored.record.biometricCleanup.removeAll { gone.contains($0) }
        let changed = stored
        try group.write { try store.save(changed, of: owner) }
        try await group.committed()
    }

    // MARK: Who may, and on what

    private func routeGround<R: Request>(for call: Call<R>) throws -> RouteGround {
        try refuseWhileRemoving(call.owner)
        let session = try ownSession(of: call)
        guard SessionRules.mayChangeSettings(session.claims), let accessKey = session.accessKey
        else { throw CredentialFault.notAuthorised }
        guard let record = try store.credential(of: call.owner)?.record else {
            throw CredentialFault.missing
        }
        guard record.passcode != nil else { throw CredentialFault.noPasscode }
        return RouteGround(
            owner: call.owner, session: session.claims.session, accessKey: accessKey,
            credential: record.id, revision: record.revision)
    }

    /// The credential, if it and the session are still what they were and nobody else changes it.
    private func credential(for ground: RouteGround) throws -> StoredCredential {
        try refuseWhileRemoving(ground.owner)
        guard !changing.contains(ground.owner) else { throw CredentialFault.busyChanging }
        guard registry.live(ground.session) != nil else { throw SessionFault.ended }
        guard let stored = try store.credential(of: ground.owner),
            stored.record.id.utf8.elementsEqual(ground.credential.utf8),
            stored.record.revision == ground.revision
        else { throw CredentialFault.stale }
        return stored
    }

    private func ask(_ act: DeviceKeyRequest.Act, _ use: TokenUse) async throws -> DeviceKeyAnswer {
        try await ask(
            DeviceKeyRequest(token: use.token, pin: use.pin, act: act), deadline: use.deadline)
    }
}
