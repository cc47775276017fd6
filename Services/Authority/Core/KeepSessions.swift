internal import AuthorityMessages
internal import Clocks
internal import Loop
internal import Serving
internal import Tokens
internal import Wire

extension AuthorityService {
    /// Keeps an owner-managed session for as long as one is kept without being renewed.
    func renew(_ call: Call<Renew>) throws -> Answer<Renew> {
        let session = try ownSession(of: call)
        guard let milliseconds = registry.renew(session.claims.session) else {
            throw CredentialFault.notAuthorised
        }
        return Answer(Renew.Reply(remainingMilliseconds: milliseconds))
    }

    /// Waits for the owner's gate with an owner-managed session; another one is never suspended.
    func awaitUnlocked(_ call: Call<AwaitUnlocked>) async throws -> Answer<AwaitUnlocked> {
        let session = try ownSession(of: call).claims
        if registry.isGateOpen(of: call.owner) { return Answer(.init(unlocked: true)) }
        guard session.lifetime == .ownerManaged else { throw CredentialFault.locked }
        let end = clock.now.nanoseconds + call.request.waitMilliseconds * 1_000_000
        await waits.wait(session.session, until: min(end, call.deadline), timers: timers)
        _ = try ownSession(of: call)
        return Answer(.init(unlocked: registry.isGateOpen(of: call.owner)))
    }

    func sessions(_ call: Call<ListSessions>) -> Answer<ListSessions> {
        let all = registry.sessions(of: call.owner)
        let shown = all.prefix(ListSessions.limit).map { session in
            ListSessions.Entry(
                session: session.claims.session, scope: session.claims.scope,
                origin: session.claims.origin, lifetime: session.claims.lifetime,
                remainingMilliseconds: registry.remainingMilliseconds(of: session),
                peer: session.holderName)
        }
        return Answer(.init(sessions: Array(shown), more: all.count - shown.count))
    }

    /// Ends one session of the owner's; as with a lock, whoever speaks for the owner may.
    func endSession(_ call: Call<EndSession>) async throws -> Answer<EndSession> {
        let id = call.request.session
        guard registry.live(id)?.claims.owner == call.owner else {
            return Answer(RevokedReply(revoked: 0))
        }
        await wait(until: registry.revoke(id))
        return Answer(RevokedReply(revoked: 1))
    }
}
