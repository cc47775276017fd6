internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Secrets
internal import Serving
internal import VaultMessages
internal import Wire

/// How wallets are listed, looked at and shown.
extension VaultService {
    /// Lists wallets as they stand in clear; nothing is opened.
    func list(_ call: Call<ListWallets>) async throws -> Answer<ListWallets> {
        let request = call.request
        try call.require(
            Permission(purpose: .open, namespace: request.namespace, wallet: nil))
        try await link.confirmLiving(call)
        let limit = ListWallets.pageLimit
        guard
            let found = try store.wallets(
                after: request.after, owner: call.owner, namespace: request.namespace,
                limit: limit + 1)
        else { throw VaultFault.noSuchWallet }
        let page = found.prefix(limit).map { $0.description(verified: isVerified($0)) }
        return Answer(ListWallets.Reply(wallets: page, more: found.count > limit))
    }

    /// Opens both envelopes and compares phrase, seed and identity with each other.
    func check(_ call: Call<CheckWallet>) async throws -> Answer<CheckWallet> {
        let (description, _) = try await opened(
            call.request.wallet, in: call.request.namespace, for: .open, call)
        return Answer(description)
    }

    /// Shows a phrase, after the same comparisons.
    func reveal(_ call: Call<RevealWallet>) async throws -> Answer<RevealWallet> {
        let (description, phrase) = try await opened(
            call.request.wallet, in: call.request.namespace, for: .reveal, call)
        return Answer(description, attachments: [phrase])
    }

    private func opened<R: Request>(
        _ wallet: WalletID, in namespace: Namespace, for purpose: Purpose, _ call: Call<R>
    ) async throws -> (WalletDescription, SharedSecret) {
        let permission = Permission(
            purpose: purpose, namespace: namespace, wallet: wallet)
        try call.require(permission)
        // A wallet that is not there must not cost a proof.
        _ = try find(wallet, in: namespace, of: call.owner)
        let lease = try await link.lease(permission, for: call)
        let keys = try lease.namespaceKeys()
        let record = try find(wallet, in: namespace, of: call.owner)
        let secrets = try open(record, with: keys)
        let seed = try await seed(of: secrets.phrase)
        guard seed.bytes.isEqual(to: secrets.seed.bytes) else {
            throw VaultFault.identityMismatch
        }
        // The wallet may have gone while its phrase was stretched.
        guard try find(wallet, in: namespace, of: call.owner) == record else {
            throw VaultFault.noSuchWallet
        }
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        noteVerified(record)
        return (record.description(verified: true), secrets.phrase)
    }

    /// Opens both envelopes and compares the identity with the seed; that the phrase leads to the
    /// same seed is the caller's to see.
    func open(_ record: WalletRecord, with keys: NamespaceKeys) throws -> WalletSecrets {
        let seed = try keys.openSeed(
            of: record, document: store.envelope(.seed, of: record))
        let phrase = try keys.openPhrase(
            of: record, document: store.envelope(.phrase, of: record))
        return WalletSecrets(phrase: SharedSecret(phrase), seed: SharedSecret(seed))
    }
}
