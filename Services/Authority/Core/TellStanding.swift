internal import AuthorityMessages
internal import LimiterMessages
internal import Serving
internal import Wire

extension AuthorityService {
    /// How the owner's credential stands; a limiter that does not answer is said, not waited for.
    func status(_ call: Call<AskStatus>) async throws -> Answer<AskStatus> {
        let owner = call.owner
        if let reply = try await statusWhileRemoving(owner) { return Answer(reply) }
        let before = try store.credential(of: owner)
        let standing = try await reachableStanding(of: owner)
        if let reply = try await statusWhileRemoving(owner) { return Answer(reply) }
        let stored = try store.credential(of: owner)
        if let stored, stored.record.passcode != nil, !stored.hasChargesLeft {
            throw CredentialFault.attemptsDamaged
        }
        // What changed while the limiter was asked may not fit its answer any more.
        let isSettled =
            (before == nil) == (stored == nil) && before?.enrolment == stored?.enrolment
        if let standing, isSettled { try check(standing, fits: stored, of: owner) }
        return Answer(
            AskStatus.Reply(
                credential: stored?.record.id, kind: stored?.record.passcode?.kind,
                protection: stored?.record.protection ?? false,
                unlocked: registry.isGateOpen(of: owner), sessions: registry.count(of: owner),
                failed: standing?.failed ?? 0,
                remainingMilliseconds: standing?.remainingMilliseconds ?? 0,
                limiterAnswers: standing != nil, tries: try triesThatFailed(of: owner)))
    }

    /// While an owner is being removed, the stores need not fit and the record not be readable; nil
    /// where none is under way.
    private func statusWhileRemoving(_ owner: Owner) async throws -> AskStatus.Reply? {
        guard let removal = try store.removal(of: owner) else { return nil }
        let standing = try? await limiter.standing(of: owner)
        let record = (try? store.credential(of: owner))?.record
        return AskStatus.Reply(
            credential: record?.id, kind: record?.passcode?.kind,
            protection: record?.protection ?? false, unlocked: false, sessions: 0,
            failed: standing?.failed ?? 0,
            remainingMilliseconds: standing?.remainingMilliseconds ?? 0,
            limiterAnswers: standing != nil, tries: try triesThatFailed(of: owner),
            removal: removal.kind)
    }

    private func triesThatFailed(of owner: Owner) throws -> [FailedTry] {
        try store.tries(of: owner, without: openTries.of(owner))
    }

    /// Nil where the limiter cannot be asked.
    private func reachableStanding(of owner: Owner) async throws -> Standing? {
        do throws(LimiterTrouble) {
            return try await limiter.standing(of: owner)
        } catch {
            guard error == .silent || error == .unreachable else { throw error.fault }
            return nil
        }
    }

    /// Refuses stores that do not belong together: neither is ever a first set.
    private func check(
        _ standing: Standing, fits stored: StoredCredential?, of owner: Owner
    ) throws {
        guard let stored else {
            if try isKnown(standing.enrolment, of: owner) { throw CredentialFault.missing }
            return
        }
        guard stored.record.passcode == nil || stored.enrolment == standing.enrolment else {
            throw CredentialFault.secretMissing
        }
    }

    /// Whether the limiter knows the owner by an enrolment that it was not told to forget.
    func isKnown(_ enrolment: EnrolmentID?, of owner: Owner) throws -> Bool {
        guard let enrolment else { return false }
        return try !store.isForgotten(enrolment, of: owner)
    }

    /// Has attempts that cannot be relied on set to six and a fresh wait, and takes the limiter's
    /// number where its own is lost.
    func repairAttempts(
        _ call: Call<RepairOwnerAttempts>
    ) async throws -> Answer<RepairOwnerAttempts> {
        let owner = call.owner
        guard let before = try store.credential(of: owner), before.record.passcode != nil else {
            throw CredentialFault.noPasscode
        }
        let repaired: RepairAttempts.Reply
        do throws(LimiterTrouble) {
            let request = RepairAttempts(lastCharge: before.hasChargesLeft ? before.charge : nil)
            repaired = try await limiter.ask(request, of: owner).reply
        } catch {
            throw error.faultAfterCharge
        }
        guard let stored = try store.credential(of: owner), stored.enrolment == repaired.enrolment
        else { throw CredentialFault.secretMissing }
        if !stored.hasChargesLeft {
            guard repaired.lastCharge < Begin.chargeLimit else {
                throw CredentialFault.attemptsDamaged
            }
            try group.write { try store.renumber(after: repaired.lastCharge, of: owner) }
        }
        return Answer(
            RepairOwnerAttempts.Reply(
                failed: repaired.failed, remainingMilliseconds: repaired.remainingMilliseconds))
    }
}
