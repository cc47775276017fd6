internal import AuthorityClient
internal import AuthorityMessages
internal import BackupShares
internal import Clocks
internal import Crypto
internal import Secrets
internal import Serving
internal import SharesMessages
internal import VaultMessages
internal import Wire

/// How a wallet's phrase is split.
extension SharesService {
    /// Splits a phrase, and keeps all but the shares.
    ///
    /// Whatever can refuse it is looked at before the vault spends the proof. The manifest is
    /// durable before the shares leave.
    func split(_ call: Call<SplitWallet>) async throws -> Answer<SplitWallet> {
        let request = call.request
        let permission = Permission(
            purpose: .reveal, namespace: request.namespace, wallet: request.wallet)
        try call.require(permission, alsoFor: .walletVault)
        let holders = try holders(named: request.holders, of: call.owner)
        let limit = limits.splitsPerNamespace
        guard
            try store.hasRoom(owner: call.owner, namespace: request.namespace, limit: limit)
        else { throw SharesFault.full }

        let lease = try link.leaveThroughAnother(permission, for: call)
        let (row, files) = try await shares(among: holders, for: call)
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        try await durably {
            try store.makeRoom(owner: call.owner, namespace: request.namespace, limit: limit)
            try store.add(row)
        }
        return Answer(row.manifest, attachments: files)
    }

    /// Those who get a share, each with a key that one can be sealed for.
    private func holders(
        named names: [HolderName], of owner: Owner
    ) throws -> [ShareHolder] {
        let holders = try names.map { name in
            guard let holder = try store.holder(name, owner: owner) else {
                throw SharesFault.noSuchHolder
            }
            // Nothing signs what stands in the store.
            guard Ed25519.isPublicKey(holder.publicKey) else { throw Self.unfitKey(of: name) }
            return ShareHolder(name: holder.name.text, publicKey: holder.publicKey)
        }
        do throws(ShareFileError) {
            try ShareFile.check(holders)
        } catch {
            throw SharesFault.invalidKey
        }
        return holders
    }

    private static func unfitKey(of name: HolderName) -> Refusal {
        var refusal = SharesFault.invalidKey.refusal
        refusal.message =
            "The key that is kept of holder \(name.text) is none, so it was changed in the store. "
            + "Remove the holder and take him in again."
        return refusal
    }

    /// Has the vault show the phrase, and splits it; the phrase goes no further.
    private func shares(
        among holders: [ShareHolder], for call: Call<SplitWallet>
    ) async throws -> (SplitRow, [SharedSecret]) {
        let (wallet, phrase) = try await vault.reveal(
            call.request.wallet, in: call.request.namespace, for: call,
            within: Lease.longestMilliseconds)
        return try shares(of: phrase, wallet, among: holders, for: call)
    }

    /// The shares as files, and the manifest that goes with them.
    private func shares(
        of phrase: SharedSecret, _ wallet: WalletDescription, among holders: [ShareHolder],
        for call: Call<SplitWallet>
    ) throws -> (SplitRow, [SharedSecret]) {
        guard let split = SplitID(random.bytes(SplitID.byteCount)) else {
            throw BusFault.internalError
        }
        let made = today
        let files: [ShareFile]
        do throws(ShareFileError) {
            files = try ShareFile.split(
                block(of: phrase), id: split.bytes,
                wallet: ShareFacts.Wallet(SharedWallet(wallet)), made: made,
                among: holders, random: random)
        } catch {
            throw BusFault.internalError
        }
        let shares = zip(call.request.holders, files).map { name, file in
            Manifest.Share(
                holder: name, publicKey: file.recipient, digest: file.split.digests[file.index],
                file: SHA256.digest(file.bytes))
        }
        let manifest = Manifest(
            split: split, wallet: SharedWallet(wallet), made: made, confirmed: false,
            shares: shares)
        let row = SplitRow(
            owner: call.owner, namespace: call.request.namespace, manifest: manifest, mac: nil)
        return (row, files.map { SharedSecret(SecretBytes(copying: $0.bytes)) })
    }

    /// Every phrase that the vault keeps fits.
    private func block(of phrase: SharedSecret) throws(ShareFileError) -> SecretBytes {
        do throws(ShareError) {
            return try PhraseBlock.encode(phrase.bytes)
        } catch {
            throw .invalid
        }
    }

    // MARK: Afterwards

    /// Takes note that the files of a split were written, durably and whole.
    func confirmSplit(_ call: Call<ConfirmSplit>) async throws -> Answer<ConfirmSplit> {
        let request = call.request
        let lease = try await link.lease(opening(request.namespace), for: call)
        let keys = try lease.namespaceKeys()
        return try group.change(call) {
            let found = try store.split(
                request.split, owner: call.owner, namespace: request.namespace)
            guard let row = found else { throw SharesFault.noSuchSplit }
            // One that was confirmed and then changed in the store has no files any more.
            guard row.manifest.shares.map(\.file) == request.files,
                row.mac == nil || keys.manifest(of: row).confirmed
            else { throw SharesFault.otherFiles }
            if row.mac == nil { try store.confirm(row, mac: keys.mac(of: row)) }
            try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
            return Empty()
        }
    }

    /// Lists manifests, each as confirmed only where its code says so.
    func listSplits(_ call: Call<ListSplits>) async throws -> Answer<ListSplits> {
        let request = call.request
        let lease = try await link.lease(opening(request.namespace), for: call)
        let keys = try lease.namespaceKeys()
        let limit = ListSplits.pageLimit
        guard
            let found = try store.splits(
                after: request.after, owner: call.owner, namespace: request.namespace,
                limit: limit + 1)
        else { throw SharesFault.noSuchSplit }
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        return Answer(
            ListSplits.Reply(
                splits: found.prefix(limit).map { keys.manifest(of: $0) },
                more: found.count > limit))
    }
}

extension SharedWallet {
    init(_ wallet: WalletDescription) {
        self.init(
            kind: wallet.kind, network: wallet.network, identity: wallet.identity,
            words: wallet.words)
    }
}
