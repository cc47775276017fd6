internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Mnemonics
internal import Secrets
internal import Serving
internal import VaultMessages
internal import Wire

/// How wallets come in.
extension VaultService {
    /// Makes a `bip39` wallet; nobody but the vault has seen its phrase.
    func create(_ call: Call<CreateWallet>) async throws -> Answer<CreateWallet> {
        let request = call.request
        let lease = try await link.lease(
            Permission(purpose: .open, namespace: request.namespace, wallet: nil), for: call)
        let phrase: SharedSecret
        do throws(MnemonicError) {
            phrase = SharedSecret(try Mnemonic.generate(words: request.words, random: random))
        } catch {
            throw BusFault.internalError
        }
        let seed = try await seed(of: phrase, as: .bip39)
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        return try group.change(call) {
            try install(
                WalletSecrets(phrase: phrase, seed: seed),
                NewWallet(
                    owner: call.owner, namespace: request.namespace, family: .bip39,
                    label: request.label),
                lease: lease)
        }
    }

    /// Takes in a wallet from its phrase.
    func importWallet(_ call: Call<ImportWallet>) async throws -> Answer<ImportWallet> {
        let request = call.request
        let permission = Permission(purpose: .open, namespace: request.namespace, wallet: nil)
        try call.require(permission)
        guard let family = WalletFamily(request.walletKind, request.network) else {
            throw BusFault.malformed
        }
        // The long way to the seed comes before the lease, which it might outlast.
        try await link.confirmLiving(call)
        let secrets = try await secrets(ofTyped: call.attachments, as: family)
        if let expected = request.expected {
            guard try family.identity(ofSeed: secrets.seed.bytes) == expected else {
                throw VaultFault.unexpectedIdentity
            }
        }
        let lease = try await link.lease(permission, for: call)
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        return try group.change(call) {
            try install(
                secrets,
                NewWallet(
                    owner: call.owner, namespace: request.namespace, family: family,
                    label: request.label),
                lease: lease)
        }
    }

    /// The phrase in its one form, and its seed.
    private func secrets(
        ofTyped attachments: [SharedSecret], as family: WalletFamily
    ) async throws -> WalletSecrets {
        guard let typed = attachments.first, typed.bytes.count <= limits.phraseBytes else {
            throw VaultFault.invalidPhrase
        }
        let read = await stretcher.run {
            Result { () throws(MnemonicError) in
                try WalletSecrets(typed: typed.bytes, as: family)
            }
        }
        do throws(MnemonicError) {
            return try read.get()
        } catch .failed, .damagedWordList {
            throw BusFault.internalError
        } catch {
            throw VaultFault.invalidPhrase
        }
    }

    /// Adds a wallet and proves that it opens; part of the caller's step.
    ///
    /// The envelopes are read back and opened as any later reader will do it, so that a wrong seal
    /// is never acknowledged.
    private func install(
        _ secrets: WalletSecrets, _ new: NewWallet, lease: Lease
    ) throws -> WalletDescription {
        let keys = try lease.namespaceKeys()
        guard let wallet = WalletID(random.uuid()) else { throw BusFault.internalError }
        var record = WalletRecord(
            owner: new.owner, namespace: new.namespace, wallet: wallet, family: new.family,
            label: new.label, words: secrets.words,
            identity: try new.family.identity(ofSeed: secrets.seed.bytes), mac: [])
        record.mac = keys.mac(of: record)
        guard try !store.hasWallet(like: record) else { throw VaultFault.walletExists }
        let count = try store.walletCount(of: new.owner, in: new.namespace)
        guard count < limits.walletsPerNamespace else { throw VaultFault.full }
        let content = SeedContent(secrets, new.family).joined()
        try store.add(
            record,
            envelopes: [
                .phrase: try keys.seal(secrets.phrase.bytes, for: record, random: random),
                .seed: try keys.seal(content, for: record, random: random),
            ])
        let stored = try find(wallet, in: new.namespace, of: new.owner)
        let opened = try open(stored, store.envelopes(of: stored), with: keys)
        guard stored == record, opened.phrase.bytes.isEqual(to: secrets.phrase.bytes),
            opened.seed.bytes.isEqual(to: secrets.seed.bytes)
        else { throw VaultFault.envelopeDamaged }
        try lease.check(at: clock.now.nanoseconds)
        noteVerified(record)
        return record.description(verified: true)
    }
}

/// What is known of a wallet that comes in, beside its phrase.
private struct NewWallet {
    let owner: Owner
    let namespace: Namespace
    let family: WalletFamily
    let label: String
}
