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
    /// Makes a wallet; nobody but the vault has seen its phrase.
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
        let secrets = WalletSecrets(phrase: phrase, seed: try await seed(of: phrase))
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        return try group.change(call) {
            try install(
                secrets, NewWallet(request.namespace, .bip39, request.label, request.words),
                owner: call.owner, lease: lease)
        }
    }

    /// Takes in a wallet from its phrase.
    func importWallet(_ call: Call<ImportWallet>) async throws -> Answer<ImportWallet> {
        let request = call.request
        let permission = Permission(purpose: .open, namespace: request.namespace, wallet: nil)
        try call.require(permission)
        guard request.walletKind == .bip39 else { throw VaultFault.invalidPhrase }
        let (phrase, words) = try normalized(call.attachments)
        let lease = try await link.lease(permission, for: call)
        let secrets = WalletSecrets(phrase: phrase, seed: try await seed(of: phrase))
        if let expected = request.expected {
            guard try NamespaceKeys.identity(ofSeed: secrets.seed.bytes) == expected else {
                throw VaultFault.unexpectedIdentity
            }
        }
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        return try group.change(call) {
            try install(
                secrets, NewWallet(request.namespace, request.walletKind, request.label, words),
                owner: call.owner, lease: lease)
        }
    }

    /// The phrase in its one form, and how many words it has.
    private func normalized(
        _ attachments: [SharedSecret]
    ) throws(VaultFault) -> (SharedSecret, words: Int) {
        guard let typed = attachments.first, typed.bytes.count <= limits.phraseBytes else {
            throw .invalidPhrase
        }
        do throws(MnemonicError) {
            let phrase = try Mnemonic.normalize(typed.bytes)
            let words = try Mnemonic.entropy(of: phrase).count * 3 / 4
            return (SharedSecret(phrase), words)
        } catch {
            throw .invalidPhrase
        }
    }

    /// Adds a wallet and proves that it opens; part of the caller's step.
    ///
    /// The envelopes are read back and opened as any later reader will do it, so that a wrong seal
    /// is never acknowledged.
    private func install(
        _ secrets: WalletSecrets, _ new: NewWallet, owner: Owner, lease: Lease
    ) throws -> WalletDescription {
        let keys = try lease.namespaceKeys()
        let identity = try NamespaceKeys.identity(ofSeed: secrets.seed.bytes)
        let limit = limits.walletsPerNamespace
        guard try !store.hasWallet(identity: identity, owner: owner, namespace: new.namespace)
        else { throw VaultFault.walletExists }
        guard try !store.isFull(owner: owner, namespace: new.namespace, limit: limit) else {
            throw VaultFault.full
        }
        guard let wallet = WalletID(random.uuid()) else { throw BusFault.internalError }
        var record = WalletRecord(
            owner: owner, namespace: new.namespace, wallet: wallet, kind: new.kind,
            label: new.label, words: new.words, identity: identity, mac: [])
        record.mac = keys.mac(of: record)
        try store.add(
            record,
            envelopes: [
                .phrase: try keys.seal(secrets.phrase.bytes, for: record, random: random),
                .seed: try keys.seal(secrets.seed.bytes, for: record, random: random),
            ])
        let stored = try find(wallet, in: new.namespace, of: owner)
        let opened = try open(stored, with: keys)
        guard stored == record, opened.phrase.bytes.isEqual(to: secrets.phrase.bytes),
            opened.seed.bytes.isEqual(to: secrets.seed.bytes)
        else { throw VaultFault.envelopeDamaged }
        try lease.check(at: clock.now.nanoseconds)
        noteVerified(record)
        return record.description(verified: true)
    }
}

/// A wallet's phrase and the seed that follows from it.
struct WalletSecrets: Sendable {
    let phrase: SharedSecret
    let seed: SharedSecret
}

/// What a person says of a wallet that comes in.
private struct NewWallet {
    let namespace: Namespace
    let kind: WalletKind
    let label: String
    let words: Int

    init(_ namespace: Namespace, _ kind: WalletKind, _ label: String, _ words: Int) {
        self.namespace = namespace
        self.kind = kind
        self.label = label
        self.words = words
    }
}
