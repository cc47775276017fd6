internal import AuthorityMessages
internal import Clocks
internal import LimiterMessages
internal import Loop
internal import Secrets
internal import Serving
internal import Storage
internal import Tokens
public import Wire

/// A reset or removal that was begun and is not finished.
struct Removal: Sendable {
    let id: RemovalID
    let kind: RemovalKind
    /// Whether it is a reset that was begun because nobody knew the owner.
    ///
    /// Nobody showed that he may destroy anything, so it destroys no wallet and no device secret
    /// that may have come back since.
    var isFresh = false
    /// The services that have said that nothing is left.
    var wiped: Set<ServiceName> = []

    /// The services that wipe; after a fresh beginning not the vault, which said that it is empty.
    var services: [ServiceName] { kind.services.filter { !isFresh || $0 != .walletVault } }

    var outstanding: [ServiceName] { services.filter { !wiped.contains($0) } }
}

/// The steps by which an owner's wallets and credential go, in the passcode document's order:
/// sessions end, wallets are wiped, the limiter forgets, and then the credential is replaced.
///
/// Each step may be repeated, and none before the last needs a record that can be read.
extension AuthorityService {
    /// How often it is looked whether a change of the same owner has ended.
    private nonisolated static let turnPauseMilliseconds: UInt64 = 20

    /// Ends every session and lets nothing more of the owner begin.
    func beginRemoval(_ call: Call<BeginRemoval>) async throws -> Answer<BeginRemoval> {
        let owner = call.owner
        guard call.peer.mayDestroy else { throw BusFault.forbidden }
        try await takeTurn(owner, until: call.deadline)
        defer { changing.remove(owner) }
        if let removal = try store.removal(of: owner) {
            guard removal.kind == call.request.removalKind else { throw CredentialFault.removing }
            // An earlier run may have ended before the leases that it gave.
            await wait(until: registry.leasesClosed(of: owner))
            return Answer(.init(removal: removal.id, outstanding: removal.outstanding))
        }
        guard call.session != nil else { throw CredentialFault.notAuthorised }
        guard SessionRules.mayChangeSettings(try ownSession(of: call).claims) else {
            throw CredentialFault.notAuthorised
        }
        let removal = try await begin(call.request.removalKind, of: owner)
        return Answer(.init(removal: removal.id, outstanding: removal.outstanding))
    }

    /// Journals a removal and ends every session; the caller has the owner's turn.
    func begin(
        _ kind: RemovalKind, isFresh: Bool = false, of owner: Owner
    ) async throws -> Removal {
        guard let id = RemovalID(random.bytes(RemovalID.byteCount)) else {
            preconditionFailure("an id has as many bytes as it has")
        }
        let removal = Removal(id: id, kind: kind, isFresh: isFresh)
        try group.write { try store.save(removal, of: owner) }
        locks.lock(owner)
        registry.closeGate(of: owner)
        _ = registry.revokeAll(of: owner)
        try await group.committed()
        await wait(until: registry.leasesClosed(of: owner))
        return removal
    }

    func checkRemoval(_ call: Call<CheckRemoval>) throws -> Answer<CheckRemoval> {
        _ = try removal(call.request.removal, of: call)
        return Answer(Empty())
    }

    func reportWiped(_ call: Call<ReportWiped>) throws -> Answer<ReportWiped> {
        var (removal, service) = try removal(call.request.removal, of: call)
        removal.wiped.insert(service)
        let changed = removal
        try group.write { try store.save(changed, of: call.owner) }
        return Answer(Empty())
    }

    /// The last steps; one that is not there any more was finished.
    func finishRemoval(_ call: Call<FinishRemoval>) async throws -> Answer<FinishRemoval> {
        let owner = call.owner
        guard call.peer.mayDestroy else { throw BusFault.forbidden }
        try await takeTurn(owner, until: call.deadline)
        defer { changing.remove(owner) }
        guard let removal = try store.removal(of: owner), removal.id == call.request.removal
        else { return Answer(Empty()) }
        guard removal.outstanding.isEmpty else { throw CredentialFault.wipeOutstanding }
        try await finish(removal, of: owner)
        return Answer(Empty())
    }

    /// Waits for another change of the owner's to end, such as the finishing that a start begins.
    func takeTurn(_ owner: Owner, until deadline: UInt64) async throws {
        while !changing.insert(owner).inserted {
            guard clock.now.nanoseconds < deadline else { throw CredentialFault.busyChanging }
            await timers.sleep(milliseconds: Self.turnPauseMilliseconds)
        }
    }

    /// Finishes what needs no service but the limiter; what does not succeed now is tried again.
    public func finishRemovals() async {
        for owner in (try? store.ownersBeingRemoved()) ?? [] {
            do { try await settle(owner) } catch { metrics.count("removals_put_off") }
        }
    }

    /// Finishes an owner's removal, if all have wiped and nobody is at it.
    ///
    /// Nobody is told an outcome of an owner whose removal could be finished first.
    public func settle(_ owner: Owner) async throws {
        guard let removal = try store.removal(of: owner), removal.outstanding.isEmpty,
            changing.insert(owner).inserted
        else { return }
        defer { changing.remove(owner) }
        try await finish(removal, of: owner)
    }

    /// Refuses what must not run beside a reset or a removal.
    func refuseWhileRemoving(_ owner: Owner) throws {
        guard try store.removal(of: owner) == nil else { throw CredentialFault.removing }
    }

    /// The removal that a service asks about, and which service that is.
    private func removal<R: Request>(
        _ id: RemovalID, of call: Call<R>
    ) throws -> (Removal, ServiceName) {
        guard case .service(let service) = call.peer.role,
            let removal = try store.removal(of: call.owner), removal.id == id,
            removal.services.contains(service)
        else { throw CredentialFault.noRemoval }
        return (removal, service)
    }

    /// A new record, which still names what is to be deleted on tokens.
    private func recordAfterReset(of owner: Owner) throws -> CredentialRecord {
        var record = newRecord()
        record.biometricCleanup = try store.deviceCopies(of: owner).map(\.account)
        return record
    }

    /// The caller has the owner's turn.
    private func finish(_ removal: Removal, of owner: Owner) async throws {
        let known = try await limiter.challenge(owner).enrolment
        if let known {
            guard !removal.isFresh else { throw try await withdraw(removal, of: owner) }
            do throws(LimiterTrouble) {
                _ = try await limiter.askUntilAnswered(Forget(enrolment: known), of: owner)
            } catch {
                throw error.fault
            }
        }
        guard try store.removal(of: owner)?.id == removal.id else { return }
        try group.write {
            for enrolment in [known, try store.enrolment(of: owner)].compactMap({ $0 }) {
                try store.markForgotten(enrolment, of: owner)
            }
            try store.dropCredential(of: owner)
            switch removal.kind {
            case .reset:
                try store.save(
                    StoredCredential(
                        record: try recordAfterReset(of: owner), enrolment: nil, charge: 0),
                    of: owner)
            case .remove: try store.dropDeviceCopies(of: owner)
            }
            group.store.oweErasure()
        }
        try await group.committed()
    }
}
