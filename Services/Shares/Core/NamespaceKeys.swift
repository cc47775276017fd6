internal import AuthorityClient
internal import AuthorityMessages
internal import Crypto
internal import Secrets
internal import SharesMessages
internal import VaultMessages
internal import Wire

/// The two keys of a namespace, for as long as a lease lasts: what restorations are sealed and
/// manifests are authenticated with.
struct NamespaceKeys: Sendable {
    let restorations: SharedSecret
    let manifests: SharedSecret

    // MARK: Restorations

    /// The private key of a restoration, an Ed25519 seed, in an AES-256-GCM box that is bound to
    /// all that stands beside it.
    func seal(
        _ privateKey: borrowing SecretBytes, for row: RestorationRow, random: any RandomSource
    ) throws(CryptoError) -> [UInt8] {
        try AESGCM.seal(
            privateKey, key: restorations.bytes, nonce: random.bytes(AESGCM.nonceBytes),
            aad: Self.context(of: row))
    }

    /// Throws ``SharesFault/restorationDamaged`` where the box does not open, or holds another key
    /// than that of the public key beside it.
    func open(_ row: RestorationRow) throws(SharesFault) -> SecretBytes {
        do throws(CryptoError) {
            let privateKey = try AESGCM.open(
                row.sealed, key: restorations.bytes, aad: Self.context(of: row))
            guard try Ed25519.publicKey(seed: privateKey) == row.publicKey else {
                throw .authenticationFailed
            }
            return privateKey
        } catch {
            throw .restorationDamaged
        }
    }

    private static func context(of row: RestorationRow) -> [UInt8] {
        lengthPrefixed([
            Array(KeyDomain.restorations.rawValue.utf8), Array(row.address.owner.text.utf8),
            Array(row.address.namespace.text.utf8), row.address.restoration.bytes, row.publicKey,
        ])
    }

    // MARK: Manifests

    /// HMAC-SHA256 over a label and all that stands in a manifest.
    ///
    /// It is written when a split is confirmed, so it also says that it was.
    func mac(of row: SplitRow) -> [UInt8] {
        let manifest = row.manifest
        var fields = [
            Array(KeyDomain.manifests.rawValue.utf8), Array(row.owner.text.utf8),
            Array(row.namespace.text.utf8), manifest.split.bytes,
            Array(manifest.wallet.kind.text.utf8),
            Array((manifest.wallet.network?.text ?? "").utf8), manifest.wallet.identity,
            bigEndian(UInt32(clamping: manifest.wallet.words)), bigEndian(manifest.made),
        ]
        for share in manifest.shares {
            fields += [Array(share.holder.text.utf8), share.publicKey, share.digest, share.file]
        }
        return HMAC.sha256(key: manifests.bytes, message: lengthPrefixed(fields))
            .withBytes { Array($0) }
    }

    /// The manifest as it may be told: confirmed only where its code says so.
    func manifest(of row: SplitRow) -> Manifest {
        var manifest = row.manifest
        manifest.confirmed = row.mac.map { ConstantTime.equal($0, mac(of: row)) } ?? false
        return manifest
    }
}

/// Fields one behind the other, each after its length in four bytes, most significant first.
private func lengthPrefixed(_ fields: [[UInt8]]) -> [UInt8] {
    fields.reduce(into: []) { $0 += bigEndian(UInt32(clamping: $1.count)) + $1 }
}

private func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
}

extension Lease {
    /// The keys of a lease that backup-shares was given.
    func namespaceKeys() throws(LeaseFault) -> NamespaceKeys {
        guard keys.count == KeyDomain.allCases.count else { throw .notAuthorised }
        return NamespaceKeys(restorations: keys[0], manifests: keys[1])
    }
}
