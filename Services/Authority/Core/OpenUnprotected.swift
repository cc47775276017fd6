internal import AuthorityMessages
internal import LimiterMessages
internal import Loop
internal import Secrets
internal import Serving
internal import Tokens
internal import Wire

extension AuthorityService {
    /// Starts a session for an owner whose access key needs no passcode.
    func openSession(_ call: Call<OpenSession>) async throws -> Answer<OpenSession> {
        let scope = call.request.scope
        guard SessionRules.mayBeUnprotected(scope) else { throw CredentialFault.notAuthorised }
        try SessionRules.check(call.request.audience, for: scope)
        try SessionRules.check(call.request.lifetime, for: scope)
        try await makeRecordIfUnknown(call.owner)
        try refuseWhileRemoving(call.owner)
        guard let record = try store.credential(of: call.owner)?.record else {
            throw CredentialFault.stale
        }
        guard !record.protection, let accessKey = record.unprotectedKey else {
            throw CredentialFault.notAuthorised
        }
        guard record.id.utf8.count <= Claims.credentialLimit else {
            throw CredentialFault.damaged
        }
        guard registry.isGateOpen(of: call.owner) else { throw CredentialFault.locked }
        try registry.reserve()
        defer { registry.release() }
        let (session, token) = try registry.open(
            SessionRegistry.Draft(
                owner: call.owner, scope: scope, audience: call.request.audience,
                holder: call.peer.key, credential: record.id, revision: record.revision,
                accessKey: accessKey, origin: .unprotected, lifetime: call.request.lifetime,
                holderName: call.peer.name))
        return Answer(
            .init(remainingMilliseconds: registry.remainingMilliseconds(of: session)),
            attachments: [SharedSecret(SecretBytes(copying: token))])
    }

    /// Opens the gate of an owner who has no passcode to open it with, unless he was locked while
    /// the limiter was asked.
    func unlock(_ call: Call<Unlock>) async throws -> Answer<Unlock> {
        let mark = locks.begin(call.owner)
        defer { locks.end(call.owner) }
        try await makeRecordIfUnknown(call.owner)
        try refuseWhileRemoving(call.owner)
        guard let record = try store.credential(of: call.owner)?.record else {
            throw CredentialFault.stale
        }
        guard record.passcode == nil else { throw CredentialFault.notAuthorised }
        guard !locks.wasLocked(call.owner, since: mark) else { throw CredentialFault.stale }
        registry.openGate(of: call.owner)
        return Answer(Empty())
    }

    /// Makes a record without a passcode for an owner of whom neither store knows anything.
    private func makeRecordIfUnknown(_ owner: Owner) async throws {
        guard try store.credential(of: owner) == nil else { return }
        try refuseWhileRemoving(owner)
        guard changing.insert(owner).inserted else { throw CredentialFault.busyChanging }
        defer { changing.remove(owner) }
        _ = try await challenge(of: owner) { newRecord() }
    }
}
