internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Serving
internal import VaultMessages
internal import Wire

/// How wallets go.
extension VaultService {
    /// Removes a wallet with its envelopes; the reply waits until nothing of them is on the disk.
    ///
    /// One whose row cannot be read goes as well.
    func remove(_ call: Call<RemoveWallet>) async throws -> Answer<RemoveWallet> {
        let request = call.request
        guard call.peer.mayDestroy else { throw BusFault.forbidden }
        let permission = Permission(
            purpose: .settings, namespace: request.namespace, wallet: request.wallet)
        let lease = try await link.lease(permission, for: call)
        return try group.change(call, erasing: true) {
            let row = try store.row(
                of: request.wallet, owner: call.owner, namespace: request.namespace)
            guard let row else { throw VaultFault.noSuchWallet }
            try store.remove(request.wallet, owner: call.owner, namespace: request.namespace)
            try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
            if case .readable(let record) = row { forgetVerified(record) }
            return Empty()
        }
    }
}
