internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Crypto
internal import Serving
internal import SharesMessages
internal import Wire

/// How holders come and go.
extension SharesService {
    /// Takes a holder in; one with this name and key may be there already.
    func addHolder(_ call: Call<AddHolder>) async throws -> Answer<AddHolder> {
        let request = call.request
        try call.require(Permission(purpose: .settings, namespace: nil))
        // A share that is sealed for a mistyped key can never be opened again.
        guard Ed25519.isPublicKey(request.publicKey) else { throw SharesFault.invalidKey }
        let lease = try await link.lease(
            Permission(purpose: .settings, namespace: nil), for: call)
        return try group.change(call) {
            let holder = try holder(of: request, owner: call.owner)
            try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
            return holder
        }
    }

    private func holder(of request: AddHolder, owner: Owner) throws -> HolderDescription {
        if let known = try store.holder(request.name, owner: owner) {
            guard known.publicKey == request.publicKey else { throw SharesFault.holderExists }
            return known
        }
        guard try !store.hasHolder(publicKey: request.publicKey, owner: owner) else {
            throw SharesFault.invalidKey
        }
        guard try store.holderCount(owner: owner) < limits.holders else { throw SharesFault.full }
        let holder = HolderDescription(
            name: request.name, publicKey: request.publicKey, added: today)
        try store.add(holder, owner: owner)
        return holder
    }

    /// Takes a holder out; manifests go on naming him.
    func removeHolder(_ call: Call<RemoveHolder>) async throws -> Answer<RemoveHolder> {
        let lease = try await link.lease(
            Permission(purpose: .settings, namespace: nil), for: call)
        return try group.change(call) {
            guard try store.removeHolder(call.request.name, owner: call.owner) else {
                throw SharesFault.noSuchHolder
            }
            try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
            return Empty()
        }
    }

    /// Lists names and public keys, which are no secret.
    func listHolders(_ call: Call<ListHolders>) throws -> Answer<ListHolders> {
        Answer(ListHolders.Reply(holders: try store.holders(owner: call.owner)))
    }
}
