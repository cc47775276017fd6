internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Serving
internal import VaultMessages
internal import Wire

/// How wallets go.
extension VaultService {
    /// Removes a wallet with its envelopes; the reply waits until nothing of them is on the disk.
    func remove(_ call: Call<RemoveWallet>) async throws -> Answer<RemoveWallet> {
        let request = call.request
        guard call.peer.mayDestroy else { throw BusFault.forbidden }
        let permission = Permission(
            purpose: .settings, namespace: request.namespace, wallet: request.wallet)
        let lease = try await link.lease(permission, for: call)
        return try group.change(call, erasing: true) {
            let record = try find(request.wallet, in: request.namespace, of: call.owner)
            try store.remove(record)
            try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
            forgetVerified(record)
            return Empty()
        }
    }
}
