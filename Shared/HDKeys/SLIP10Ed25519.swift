internal import Crypto
public import Secrets

/// Hierarchical Ed25519 keys (SLIP-0010): hardened children only.
public enum SLIP10Ed25519 {
    /// A key and what its children are derived with.
    public struct Node: ~Copyable, Sendable {
        /// The 32-byte seed of an Ed25519 key pair.
        public let privateKey: SecretBytes
        /// 32 bytes.
        public let chainCode: SecretBytes

        /// The 32-byte public key.
        public borrowing func publicKey() throws(HDKeyError) -> [UInt8] {
            do throws(CryptoError) {
                return try Ed25519.publicKey(seed: privateKey)
            } catch {
                throw .failed
            }
        }
    }

    /// The key at the end of a path from a seed of 16 to 64 bytes.
    ///
    /// Throws ``HDKeyError/notHardened`` if a level of the path is not hardened.
    public static func derive(
        seed: borrowing SecretBytes, path: DerivationPath
    ) throws(HDKeyError) -> Node {
        guard path.isHardenedThroughout else { throw .notHardened }
        var parts = try KeyMaterial.master(seed: seed, label: "ed25519 seed")
        for level in path.levels {
            parts = KeyMaterial.hardenedChild(level, of: parts.key, chainCode: parts.chainCode)
        }
        return Node(privateKey: parts.key, chainCode: parts.chainCode)
    }
}
