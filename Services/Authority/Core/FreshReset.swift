internal import AuthorityMessages
internal import Clocks
internal import LimiterMessages
internal import Serving
internal import Wire

/// Resets that nobody authorises, because nobody knows the owner.
///
/// All is looked at in the owner's turn: no record, enrolment or session of his comes into being
/// meanwhile, and without a session no wallet.
extension AuthorityService {
    /// Begins one if authority, limiter and vault each have nothing of the owner.
    func beginFreshReset(_ call: Call<BeginFreshReset>) async throws -> Answer<BeginFreshReset> {
        let owner = call.owner
        guard call.peer.mayDestroy else { throw BusFault.forbidden }
        try await takeTurn(owner, until: call.deadline)
        defer { changing.remove(owner) }
        if let removal = try store.removal(of: owner) {
            guard removal.isFresh else { throw CredentialFault.removing }
            return begun(removal)
        }
        let known = try await servicesKnowing(owner)
        guard known.isEmpty else { return Answer(.known(to: known)) }
        guard clock.now.nanoseconds < call.deadline else { throw BusFault.overdue }
        return begun(try await begin(.reset, isFresh: true, of: owner))
    }

    /// Ends a fresh reset of an owner whom the limiter knows again: a store was put back since it
    /// began, and what is in that is not this reset's to destroy.
    ///
    /// - Returns: what the caller is told.
    func withdraw(_ removal: Removal, of owner: Owner) async throws -> CredentialFault {
        try group.write { try store.dropRemoval(of: owner) }
        try await group.committed()
        return .missing
    }

    private func begun(_ removal: Removal) -> Answer<BeginFreshReset> {
        Answer(.begun(removal: removal.id, outstanding: removal.outstanding))
    }

    /// The services that answer that they have something of the owner.
    ///
    /// One that gives no answer is an error. Where the authority has something, nobody else is
    /// asked.
    private func servicesKnowing(_ owner: Owner) async throws -> [ServiceName] {
        guard try !store.knows(owner) else { return [.credentialAuthority] }
        var known: [ServiceName] = []
        if try await limiterKnows(owner) { known.append(.attemptLimiter) }
        if try await vault.knows(owner) { known.append(.walletVault) }
        return known
    }

    private func limiterKnows(_ owner: Owner) async throws(CredentialFault) -> Bool {
        do throws(LimiterTrouble) {
            return try await limiter.ask(AskStanding(), of: owner).reply.enrolment != nil
        } catch {
            guard case .said(let fault) = error else { throw .limiterUnreachable }
            throw CredentialFault(fault)
        }
    }
}
