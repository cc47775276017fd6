internal import AuthorityClient
internal import AuthorityMessages
internal import BackupShares
internal import Clocks
internal import Secrets
internal import Serving
internal import SharesMessages
internal import VaultMessages
internal import Wire

/// How a wallet is restored from three released shares.
extension SharesService {
    /// Joins three shares, looks whose phrase it is, and has the vault take it in.
    ///
    /// Replies that nothing was done are not journalled: they are no outcome of a change. What is
    /// installed is, and then the key of the restoration goes.
    func restore(_ call: Call<RestoreWallet>) async throws -> Answer<RestoreWallet> {
        let request = call.request
        try call.require(opening(request.namespace), alsoFor: .walletVault)
        let lease = try await link.lease(opening(request.namespace), for: call)
        let address = RestorationAddress(
            owner: call.owner, namespace: request.namespace, restoration: request.restoration)
        guard atWork.insert(address).inserted else { throw SharesFault.restorationBusy }
        defer { atWork.remove(address) }
        if let wallet = try await settleImport(of: address) {
            return try group.change(call) { .installedEarlier(wallet) }
        }
        let found: RestoredPhrase.Found
        switch try join(call.attachments, for: address, request, lease.namespaceKeys()) {
        case .unusable(let files): return try await nothingDone(.unusable(files), call)
        case .phrase(let phrase): found = phrase
        }
        let wallet = try await identifier.wallet(
            of: found.phrase, kind: found.kind, network: found.network)
        let verdict = IdentityVerdict(
            of: wallet, stated: found.stated, known: found.known, expected: request.expected)
        switch verdict {
        case .refuse: throw SharesFault.unexpectedIdentity
        case .askPerson: return try await nothingDone(.unconfirmed(wallet), call)
        case .install: return try await install(wallet, found.phrase, address, call)
        }
    }

    /// Opens the key of the restoration and then the three files with it.
    private func join(
        _ files: [SharedSecret], for address: RestorationAddress, _ request: RestoreWallet,
        _ keys: NamespaceKeys
    ) throws -> RestoredPhrase {
        guard let row = try store.restoration(address) else {
            throw SharesFault.noSuchRestoration
        }
        let privateKey = try keys.open(row)
        let shares = try files.map { file in
            try ReadShare(file, restoration: address.restoration, privateKey: privateKey)
        }
        return try RestoredPhrase(
            shares, request: request, known: try confirmedFacts(of: shares, address, keys))
    }

    /// What this home's confirmed manifests say of the splits that files name.
    private func confirmedFacts(
        of shares: [ReadShare], _ address: RestorationAddress, _ keys: NamespaceKeys
    ) throws -> [[UInt8]: ShareFacts] {
        var known: [[UInt8]: ShareFacts] = [:]
        for case .split(let name)? in shares.map(\.origin) {
            guard let split = SplitID(name),
                let row = try store.split(
                    split, owner: address.owner, namespace: address.namespace)
            else { continue }
            let manifest = keys.manifest(of: row)
            if manifest.confirmed { known[name] = ShareFacts(manifest) }
        }
        return known
    }

    /// A reply under a lease that did not run out while a phrase was looked at.
    private func nothingDone(
        _ reply: RestoreWallet.Reply, _ call: Call<RestoreWallet>
    ) async throws -> Answer<RestoreWallet> {
        let lease = try await link.lease(opening(call.request.namespace), for: call)
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        return Answer(reply)
    }

    // MARK: Installing

    /// Has the vault take the wallet in.
    ///
    /// That it was asked is durable before it is, so that what came of it can be found out whatever
    /// stops in between. From then on the change runs to its end, whether the client waits or not.
    private func install(
        _ wallet: SharedWallet, _ phrase: SharedSecret, _ address: RestorationAddress,
        _ call: Call<RestoreWallet>
    ) async throws -> Answer<RestoreWallet> {
        let request = call.request
        let lease = try await link.lease(opening(request.namespace), for: call)
        guard clock.now.nanoseconds < call.deadline else { throw BusFault.overdue }
        guard let ticket = call.ticket,
            let key = IdempotencyKey(random.bytes(IdempotencyKey.byteCount))
        else { throw BusFault.internalError }
        try lease.check(at: clock.now.nanoseconds)
        try await durably {
            try group.beginChange(call) {
                try store.add(
                    UnfinishedImport(address: address, key: key, ticket: ticket, wallet: wallet))
            }
        }
        let bring = ImportWallet(
            namespace: request.namespace, label: request.label, walletKind: wallet.kind,
            network: wallet.network, expected: wallet.identity)
        let installed: WalletDescription
        do throws(Refusal) {
            installed = try await vault.bring(bring, phrase: phrase, key: key, for: call)
        } catch {
            if error.outcome == .rejected {
                try await durably {
                    try store.removeImport(of: address)
                    try group.refuse(ticket, with: error)
                }
                vault.settle(key, of: call.owner)
            }
            throw error
        }
        return try await finish(address, key, .installed(installed), call)
    }

    private func finish(
        _ address: RestorationAddress, _ key: IdempotencyKey, _ reply: RestoreWallet.Reply,
        _ call: Call<RestoreWallet>
    ) async throws -> Answer<RestoreWallet> {
        try await durably {
            _ = try group.change(call) {
                try store.remove(address)
                return reply
            }
        }
        vault.settle(key, of: call.owner)
        return Answer(reply)
    }
}
