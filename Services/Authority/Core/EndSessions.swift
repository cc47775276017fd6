internal import AuthorityMessages
internal import Serving
internal import Tokens
internal import Wire

extension AuthorityService {
    /// Closes the gate and ends the owner's standard sessions at once; answers when no lease is
    /// left.
    func lock(_ call: Call<Lock>) async throws -> Answer<Lock> {
        let owner = call.owner
        locks.lock(owner)
        registry.closeGate(of: owner)
        let revoked = registry.revokeStandard(of: owner)
        await wait(until: registry.leasesClosed(of: owner))
        return Answer(RevokedReply(revoked: revoked))
    }

    /// Ends one session at once; answers when its last lease is over.
    func revoke(_ call: Call<Revoke>) async throws -> Answer<Revoke> {
        let claims = try call.requireSession().claims
        guard claims.holder == call.peer.key else { throw SessionFault.invalid }
        await wait(until: registry.revoke(claims.session))
        return Answer(RevokedReply(revoked: 1))
    }
}
