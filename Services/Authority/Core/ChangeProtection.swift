internal import AuthorityMessages
internal import LimiterMessages
internal import Secrets
internal import Serving
internal import Tokens
internal import Wire

/// What a change of a credential that has a passcode rests on.
private struct ChangeGround {
    var stored: StoredCredential
    let session: SessionID
    let accessKey: SharedSecret
}

extension AuthorityService {
    /// Turns protection on or off; one write of the record is the whole change.
    ///
    /// The settings session goes on, with its deadline, under the new revision.
    func setProtection(_ call: Call<SetProtection>) async throws -> Answer<SetProtection> {
        let owner = call.owner
        guard changing.insert(owner).inserted else { throw CredentialFault.busyChanging }
        defer { changing.remove(owner) }
        let wanted = call.request.protection
        var ground = try changeGround(for: call, if: SessionRules.mayChangeSettings)
        guard ground.stored.record.protection != wanted else {
            let revision = ground.stored.record.revision
            return try group.change(call) { .init(protection: wanted, revision: revision) }
        }
        ground.stored.record.protection = wanted
        ground.stored.record.unprotectedKey = wanted ? nil : ground.accessKey
        if !wanted { ground.stored.record.retireBiometrics() }
        ground.stored.record.revision = ground.stored.record.nextRevision
        let changed = ground.stored
        let answer = try group.change(call, erasing: wanted) {
            try store.save(changed, of: owner)
            return SetProtection.Reply(protection: wanted, revision: changed.record.revision)
        }
        registry.advance(ground.session, to: changed.record.revision)
        registry.revokeAll(of: owner, except: ground.session)
        try await group.committed()
        await wait(until: registry.leasesClosed(of: owner))
        return answer
    }

    /// Removes the passcode; one write of the record is the whole change.
    ///
    /// The attempts that were charged are dropped after it, by the access key; where the limiter
    /// does not take that, the passcode is removed all the same.
    func disablePasscode(_ call: Call<DisablePasscode>) async throws -> Answer<DisablePasscode> {
        let owner = call.owner
        guard changing.insert(owner).inserted else { throw CredentialFault.busyChanging }
        defer { changing.remove(owner) }
        var ground = try changeGround(for: call, if: SessionRules.mayChangePasscode)
        ground.stored.record.passcode = nil
        ground.stored.record.protection = false
        ground.stored.record.unprotectedKey = ground.accessKey
        ground.stored.record.managedPasscode = true
        ground.stored.record.retireBiometrics()
        ground.stored.record.revision = ground.stored.record.nextRevision
        let changed = ground.stored
        // The wrapper under the passcode leaves the record.
        let answer = try group.change(call, erasing: true) {
            try store.save(changed, of: owner)
            try store.dropSignPolicy(of: owner)
            try store.dropTries(of: owner, without: [])
            return DisablePasscode.Reply(
                credential: changed.record.id, revision: changed.record.revision)
        }
        _ = registry.revokeAll(of: owner)
        try await group.committed()
        await wait(until: registry.leasesClosed(of: owner))
        if let enrolment = changed.enrolment {
            let isDone = await limiter.dropCharges(
                enrolment: enrolment, accessKey: ground.accessKey, of: owner)
            if !isDone { metrics.count("charges_left_by_removal") }
        }
        return answer
    }

    private func changeGround<R: Request>(
        for call: Call<R>, if mayChange: (Claims) -> Bool
    ) throws -> ChangeGround {
        let session = try ownSession(of: call)
        guard mayChange(session.claims), let accessKey = session.accessKey else {
            throw CredentialFault.notAuthorised
        }
        guard let stored = try store.credential(of: call.owner) else {
            throw CredentialFault.missing
        }
        guard stored.record.passcode != nil else { throw CredentialFault.noPasscode }
        return ChangeGround(
            stored: stored, session: session.claims.session, accessKey: accessKey)
    }
}
