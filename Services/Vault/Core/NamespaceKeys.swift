internal import AuthorityClient
internal import AuthorityMessages
internal import Crypto
internal import HDKeys
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

    /// HMAC-SHA256 over a label and everything that stands in clear beside the envelopes, each with
    /// its length (four bytes, most significant first).
    ///
    /// So a row that was moved to another owner, namespace or wallet, or whose label or identity
    /// was exchanged, is noticed when its wallet is opened.
    func mac(of record: WalletRecord) -> [UInt8] {
        var message: [UInt8] = []
        for field in [
            Array(KeyDomain.identities.rawValue.utf8), Array(record.label.utf8),
            Array(record.owner.text.utf8), Array(record.namespace.text.utf8),
            Array(record.wallet.text.utf8), Array(record.kind.text.utf8), record.identity,
            Self.bigEndian(record.words),
        ] {
            message += Self.bigEndian(field.count) + field
        }
        return HMAC.sha256(key: identities.bytes, message: message).withBytes { Array($0) }
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(clamping: number).bigEndian) { Array($0) }
    }

    /// The identity that a BIP-39 seed stands for.
    static func identity(ofSeed seed: borrowing SecretBytes) throws(VaultFault) -> [UInt8] {
        do throws(HDKeyError) {
            return try BIP32.masterPublicKey(seed: seed)
        } catch {
            // The seed of one phrase in 2^127 has no master key (BIP-32).
            throw .invalidPhrase
        }
    }

    /// Compares a wallet's identity with its seed, after what stands beside it with its MAC.
    func confirm(
        _ record: WalletRecord, bySeed seed: borrowing SecretBytes
    ) throws(VaultFault) {
        guard ConstantTime.equal(mac(of: record), record.mac),
            (try? Self.identity(ofSeed: seed)) == record.identity
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
    ) throws(VaultFault) -> SecretBytes {
        let seed = try open(document, for: record)
        guard seed.count == Mnemonic.seedByteCount else { throw .envelopeDamaged }
        try confirm(record, bySeed: seed)
        return seed
    }

    /// The phrase of a wallet; that it is this wallet's is known only when the seed that follows
    /// from it was compared.
    func openPhrase(
        of record: WalletRecord, document: [UInt8]?
    ) throws(VaultFault) -> SecretBytes {
        let phrase = try open(document, for: record)
        guard Mnemonic.isValid(phrase) else { throw .envelopeDamaged }
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
