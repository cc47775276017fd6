internal import AuthorityClient
internal import AuthorityMessages
internal import Crypto
internal import Mnemonics
internal import Secrets
internal import VaultMessages
internal import Wire

/// The two keys of a namespace, for as long as a lease lasts: what wallets are sealed, opened and
/// told apart with.
struct NamespaceKeys: Sendable {
    let envelopes: SharedSecret
    let identities: SharedSecret

    // MARK: Identity

    /// HMAC-SHA256 over a label and everything that stands in clear beside the envelopes.
    ///
    /// So a row that was moved to another owner, namespace or wallet, or whose label, identity or
    /// network was exchanged, is noticed when its wallet is opened.
    func mac(of record: WalletRecord) -> [UInt8] {
        let label = WalletRecord.withLength(Array(KeyDomain.identities.rawValue.utf8))
        return HMAC.sha256(key: identities.bytes, message: label + record.bytes)
            .withBytes { Array($0) }
    }

    /// Compares a wallet's identity with its seed, after what stands beside it with its MAC.
    func confirm(
        _ record: WalletRecord, bySeed seed: borrowing SecretBytes
    ) throws(VaultFault) {
        guard ConstantTime.equal(mac(of: record), record.mac),
            (try? record.family.identity(ofSeed: seed)) == record.identity
        else { throw .identityMismatch }
    }

    // MARK: Envelopes

    /// The document of a secret's envelope.
    func seal(
        _ secret: borrowing SecretBytes, for record: WalletRecord, random: any RandomSource
    ) throws(EnvelopeError) -> [UInt8] {
        try EnvelopeV1.seal(
            secret, namespace: record.namespace, wrappingKey: envelopes.bytes, random: random
        ).encoded()
    }

    /// The seed of a wallet, once its identity was compared.
    func openSeed(
        of record: WalletRecord, document: [UInt8]?
    ) throws(VaultFault) -> SeedContent {
        let content = try SeedContent(reading: open(document, for: record), record.family)
        try confirm(record, bySeed: content.seed)
        return content
    }

    /// The phrase of a wallet; that it is this wallet's is known only when its mark, or the seed
    /// that follows from it, was compared.
    func openPhrase(
        of record: WalletRecord, document: [UInt8]?
    ) throws(VaultFault) -> SecretBytes {
        let phrase = try open(document, for: record)
        do throws(MnemonicError) {
            try record.family.validate(phrase)
        } catch {
            throw .envelopeDamaged
        }
        return phrase
    }

    private func open(
        _ document: [UInt8]?, for record: WalletRecord
    ) throws(VaultFault) -> SecretBytes {
        guard let document else { throw .envelopeDamaged }
        do throws(EnvelopeError) {
            return try EnvelopeV1(decoding: document)
                .open(namespace: record.namespace, wrappingKey: envelopes.bytes)
        } catch {
            throw .envelopeDamaged
        }
    }
}

extension Lease {
    /// The keys of a lease that the vault was given.
    func namespaceKeys() throws(LeaseFault) -> NamespaceKeys {
        guard keys.count == KeyDomain.allCases.count else { throw .notAuthorised }
        return NamespaceKeys(envelopes: keys[0], identities: keys[1])
    }
}
