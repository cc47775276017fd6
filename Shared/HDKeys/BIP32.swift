public import Secrets

/// Hierarchical keys on secp256k1 (BIP-32).
public enum BIP32 {
    /// The compressed public key of the master key, 33 bytes: it names a wallet.
    public static func masterPublicKey(seed: borrowing SecretBytes) throws(HDKeyError) -> [UInt8] {
        try master(seed: seed).publicKey()
    }

    /// The master key of a seed of 16 to 64 bytes.
    public static func master(
        seed: borrowing SecretBytes
    ) throws(HDKeyError) -> ExtendedPrivateKey {
        let parts = try KeyMaterial.master(seed: seed, label: "Bitcoin seed")
        guard Secp256k1.isPrivateKey(parts.key) else { throw .invalidKey }
        return ExtendedPrivateKey(
            privateKey: parts.key, chainCode: parts.chainCode, depth: 0,
            parentFingerprint: [0, 0, 0, 0], childNumber: 0)
    }

    /// The key at the end of a path from the master key of a seed.
    public static func derive(
        seed: borrowing SecretBytes, path: DerivationPath
    ) throws(HDKeyError) -> ExtendedPrivateKey {
        var key = try master(seed: seed)
        for level in path.levels { key = try key.child(level) }
        return key
    }
}
