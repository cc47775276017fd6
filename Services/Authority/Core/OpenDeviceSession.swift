internal import AuthorityMessages
internal import Clocks
internal import DeviceKeyFrames
internal import Secrets
internal import Serving
internal import Tokens
internal import Wire

extension AuthorityService {
    /// Starts a session with the access key that the token gives back.
    ///
    /// What the token takes its time for may be stale: record, route, gate and removal are looked
    /// at once more in the step that makes the session.
    func openDeviceSession(
        _ call: Call<OpenDeviceSession>
    ) async throws -> Answer<OpenDeviceSession> {
        let owner = call.owner
        let scope = call.request.scope
        guard SessionRules.mayBeOfDevice(scope) else { throw CredentialFault.notAuthorised }
        try SessionRules.check(call.request.audience, for: scope)
        try SessionRules.check(call.request.lifetime, for: scope)
        try refuseWhileRemoving(owner)
        let mark = locks.begin(owner)
        defer { locks.end(owner) }
        let (record, copy) = try route(of: owner)
        try registry.reserve()
        defer { registry.release() }
        try enterToken(of: owner)
        defer { tokensInUse.remove(owner) }
        let key = try await release(
            copy, credential: record.id, pin: call.attachments.first, deadline: call.deadline)
        guard copy.isOf(key.bytes) else { throw DeviceKeyFault.mismatch }
        guard let now = try store.credential(of: owner)?.record,
            now.id.utf8.elementsEqual(record.id.utf8), now.revision == record.revision,
            now.biometricAccount == copy.account, !locks.wasLocked(owner, since: mark)
        else { throw CredentialFault.stale }
        try refuseWhileRemoving(owner)
        guard clock.now.nanoseconds < call.deadline else { throw BusFault.expired }
        let (session, token) = try registry.open(
            SessionRegistry.Draft(
                owner: owner, scope: scope, audience: call.request.audience,
                holder: call.peer.key, credential: record.id, revision: record.revision,
                accessKey: key, origin: .device, lifetime: call.request.lifetime,
                holderName: call.peer.name))
        registry.openGate(of: owner)
        return Answer(
            .init(remainingMilliseconds: registry.remainingMilliseconds(of: session)),
            attachments: [SharedSecret(SecretBytes(copying: token))])
    }

    /// Which token opens the owner's wallets; no token is asked.
    func deviceKey(_ call: Call<AskDeviceKey>) throws -> Answer<AskDeviceKey> {
        guard let record = try store.credential(of: call.owner)?.record else {
            return Answer(.init(token: nil, form: nil, waiting: []))
        }
        let copies = try store.deviceCopies(of: call.owner)
        let route = copies.first { $0.account == record.biometricAccount }
        let waiting = copies.filter { $0.account != record.biometricAccount }
        return Answer(
            .init(token: route?.token, form: route?.form, waiting: waiting.map(\.token)))
    }

    /// The committed route.
    private func route(of owner: Owner) throws -> (CredentialRecord, DeviceCopy) {
        guard let record = try store.credential(of: owner)?.record, record.protection,
            let account = record.biometricAccount,
            let copy = try store.deviceCopies(of: owner).first(where: { $0.account == account })
        else { throw DeviceKeyFault.none }
        guard record.id.utf8.count <= Claims.credentialLimit else {
            throw CredentialFault.damaged
        }
        return (record, copy)
    }

    // MARK: Asking tokens

    /// Longer than any token's.
    private static let pinBytesMax = 256

    /// One thing at a time with an owner's tokens; whoever enters leaves.
    func enterToken(of owner: Owner) throws(DeviceKeyFault) {
        guard tokensInUse.insert(owner).inserted else { throw .busy }
    }

    /// Has the token give a copy back.
    func release(
        _ copy: DeviceCopy, credential: String, pin: SharedSecret?, deadline: UInt64
    ) async throws -> SharedSecret {
        guard let form = copy.form else { throw DeviceKeyFault.mismatch }
        let binding = DeviceCopy.binding(credential: credential, account: copy.account)
        let answer = try await ask(
            DeviceKeyRequest(
                token: copy.token, pin: pin,
                act: .release(
                    name: copy.account, form: form, sealed: copy.sealed, binding: binding)),
            deadline: deadline)
        guard case .released(let key) = answer else { throw DeviceKeyFault.tokenFailed }
        return key
    }

    /// Asks a token, until the caller stops waiting or a token has had its time.
    func ask(_ request: DeviceKeyRequest, deadline: UInt64) async throws -> DeviceKeyAnswer {
        let now = clock.now.nanoseconds
        guard deadline > now else { throw BusFault.overdue }
        guard (request.pin?.bytes.count ?? 0) <= Self.pinBytesMax else {
            throw DeviceKeyFault.wrongPIN
        }
        let left = min((deadline - now) / 1_000_000, tokenMilliseconds)
        metrics.count("token_uses")
        let answer = await deviceKeys.ask(request, milliseconds: left)
        if case .failed(let fault) = answer {
            metrics.count("token_failures")
            throw fault
        }
        return answer
    }
}
