internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Crypto
internal import Secrets
internal import Serving
internal import SharesMessages
internal import Wire

/// How restorations begin and are given up.
extension SharesService {
    /// Makes a key pair that holders can release their shares for.
    func beginRestoration(_ call: Call<BeginRestoration>) async throws -> Answer<BeginRestoration> {
        let namespace = call.request.namespace
        let lease = try await link.lease(opening(namespace), for: call)
        let keys = try lease.namespaceKeys()
        let limit = limits.restorationsPerNamespace
        return try group.change(call) {
            guard try store.restorations(owner: call.owner, namespace: namespace).count < limit
            else { throw SharesFault.full }
            let row = try newRestoration(in: namespace, of: call.owner, keys)
            try store.add(row)
            try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
            return row.description(intact: true)
        }
    }

    private func newRestoration(
        in namespace: Namespace, of owner: Owner, _ keys: NamespaceKeys
    ) throws -> RestorationRow {
        guard let restoration = RestorationID(random.bytes(RestorationID.byteCount)) else {
            throw BusFault.internalError
        }
        let privateKey = random.secret(Ed25519.seedBytes)
        var row = RestorationRow(
            address: RestorationAddress(
                owner: owner, namespace: namespace, restoration: restoration),
            publicKey: try Ed25519.publicKey(seed: privateKey), sealed: [], begun: today)
        row.sealed = try keys.seal(privateKey, for: row, random: random)
        return row
    }

    /// Lists restorations, each with whether its private key still opens.
    func listRestorations(
        _ call: Call<ListRestorations>
    ) async throws -> Answer<ListRestorations> {
        let namespace = call.request.namespace
        let lease = try await link.lease(opening(namespace), for: call)
        let keys = try lease.namespaceKeys()
        let rows = try store.restorations(owner: call.owner, namespace: namespace)
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        return Answer(
            ListRestorations.Reply(
                restorations: rows.map { $0.description(intact: keys.opens($0)) }))
    }

    /// Gives a restoration up; the reply waits until its key is gone from the disk.
    func abandonRestoration(
        _ call: Call<AbandonRestoration>
    ) async throws -> Answer<AbandonRestoration> {
        let request = call.request
        let lease = try await link.lease(opening(request.namespace), for: call)
        let address = RestorationAddress(
            owner: call.owner, namespace: request.namespace, restoration: request.restoration)
        guard atWork.insert(address).inserted else { throw SharesFault.restorationBusy }
        defer { atWork.remove(address) }
        _ = try await settleImport(of: address)
        return try group.change(call) {
            guard try store.restoration(address) != nil else {
                throw SharesFault.noSuchRestoration
            }
            try store.remove(address)
            try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
            return Empty()
        }
    }
}

extension NamespaceKeys {
    fileprivate func opens(_ row: RestorationRow) -> Bool {
        do throws(SharesFault) {
            _ = try open(row)
            return true
        } catch {
            return false
        }
    }
}
