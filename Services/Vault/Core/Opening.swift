internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Secrets
internal import Serving
internal import VaultMessages
internal import Wire

/// How wallets are listed, looked at and shown.
extension VaultService {
    /// Lists wallets as they stand in clear, and names rows that cannot be read; nothing is opened.
    func list(_ call: Call<ListWallets>) async throws -> Answer<ListWallets> {
        let request = call.request
        try call.require(
            Permission(purpose: .open, namespace: request.namespace, wallet: nil))
        try await link.confirmLiving(call)
        guard
            let page = try store.page(
                after: request.after, owner: call.owner, namespace: request.namespace,
                limit: ListWallets.pageLimit)
        else { throw VaultFault.noSuchWallet }
        return Answer(
            ListWallets.Reply(
                wallets: page.records.map { $0.description(verified: isVerified($0)) },
                more: page.more, damaged: page.damaged))
    }

    /// Tells which wallet has an identity; nothing is opened.
    func find(_ call: Call<FindWallet>) async throws -> Answer<FindWallet> {
        let request = call.request
        try call.require(Permission(purpose: .open, namespace: request.namespace, wallet: nil))
        guard let family = WalletFamily(request.walletKind, request.network) else {
            throw BusFault.malformed
        }
        try await link.confirmLiving(call)
        let row = try store.row(
            withIdentity: request.identity, owner: call.owner, namespace: request.namespace)
        guard case .readable(let record) = row else {
            throw row == nil ? VaultFault.noSuchWallet : StorageFault.damaged
        }
        guard record.family == family else { throw VaultFault.noSuchWallet }
        return Answer(record.description(verified: isVerified(record)))
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
        let first = try await link.lease(permission, for: call)
        let record = try find(wallet, in: namespace, of: call.owner)
        let documents = try store.envelopes(of: record)
        let secrets = try open(record, documents, with: first.namespaceKeys())
        var lease = first
        let wasRetraced = isRetraced(record, documents)
        if !wasRetraced {
            lease = try await retrace(secrets, of: record, permission, first, call)
        }
        // The wallet may have gone meanwhile.
        guard try find(wallet, in: namespace, of: call.owner) == record else {
            throw VaultFault.noSuchWallet
        }
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        noteVerified(record)
        if purpose == .open, !wasRetraced { noteRetraced(record, documents) }
        return (record.description(verified: true), secrets.phrase)
    }

    /// Goes the way from the phrase to the seed once more and compares.
    ///
    /// Where that takes longer than a lease lasts, another one is asked for; under a proof, which
    /// gives no other, the mark that was compared has to do.
    ///
    /// - Returns: the lease that the operation ends under.
    private func retrace<R: Request>(
        _ secrets: WalletSecrets, of record: WalletRecord, _ permission: Permission,
        _ lease: Lease, _ call: Call<R>
    ) async throws -> Lease {
        if record.family.isSlow, permission.purpose == .reveal { return lease }
        let seed = try await seed(of: secrets.phrase, as: record.family)
        guard seed.bytes.isEqual(to: secrets.seed.bytes) else {
            throw VaultFault.identityMismatch
        }
        return record.family.isSlow ? try await link.lease(permission, for: call) : lease
    }

    /// Opens both envelopes and compares the identity with the seed, and a mark with the phrase;
    /// that the phrase leads to the same seed is the caller's to see.
    func open(
        _ record: WalletRecord, _ documents: EnvelopeDocuments, with keys: NamespaceKeys
    ) throws -> WalletSecrets {
        let content = try keys.openSeed(of: record, document: documents.seed)
        let phrase = try keys.openPhrase(of: record, document: documents.phrase)
        guard content.admits(phrase) else { throw VaultFault.identityMismatch }
        return WalletSecrets(
            phrase: SharedSecret(phrase), seed: SharedSecret(content.seed.copy()))
    }
}
