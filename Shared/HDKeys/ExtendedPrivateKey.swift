public import Secrets

/// A private key of BIP-32 with what is needed to derive its children.
public struct ExtendedPrivateKey: ~Copyable, Sendable {
    /// 32 bytes, a valid key of the curve.
    public let privateKey: SecretBytes
    /// 32 bytes.
    public let chainCode: SecretBytes
    /// 0 for a master key.
    public let depth: UInt8
    /// The first four bytes of the parent's key identifier; zeros for a master key.
    public let parentFingerprint: [UInt8]
    /// Where the key stands under its parent; 2^31 and above is hardened.
    public let childNumber: UInt32

    /// The child with a number (CKDpriv); 2^31 and above is hardened.
    ///
    /// Throws ``HDKeyError/invalidKey`` where BIP-32 knows no key: take the next number then.
    public borrowing func child(_ number: UInt32) throws(HDKeyError) -> ExtendedPrivateKey {
        guard depth < UInt8.max else { throw .pathTooDeep }
        let point = try publicKey()
        let parts =
            if number >= DerivationPath.hardened {
                KeyMaterial.hardenedChild(number, of: privateKey, chainCode: chainCode)
            } else {
                KeyMaterial.child(number, of: point, chainCode: chainCode)
            }
        return ExtendedPrivateKey(
            privateKey: try Secp256k1.sum(of: privateKey, tweak: parts.key),
            chainCode: parts.chainCode, depth: depth + 1,
            parentFingerprint: Array(KeyIdentifier.of(publicKey: point).prefix(4)),
            childNumber: number)
    }

    /// The compressed public key, 33 bytes.
    public borrowing func publicKey() throws(HDKeyError) -> [UInt8] {
        try Secp256k1.publicKey(of: privateKey)
    }

    /// The key as the text `xprv…` of the main network, which never leaves secret memory.
    public borrowing func xprv() -> SecretBytes {
        let head = header(version: 0x0488_ADE4)
        let payload = SecretBytes(count: Self.serializedByteCount) { target in
            target.copyBytes(from: head)
            chainCode.withBytes { put($0, at: head.count, in: target) }
            // A zero byte stands before the private key.
            privateKey.withBytes { put($0, at: head.count + $0.count + 1, in: target) }
        }
        return Base58Check.secretText(of: payload)
    }

    /// The public key and chain code as the text `xpub…` of the main network.
    ///
    /// Not a key to spend with, but it shows every address below; treat it as private.
    public borrowing func xpub() throws(HDKeyError) -> String {
        let code = chainCode.withBytes { Array($0) }
        return Base58Check.text(of: header(version: 0x0488_B21E) + code + (try publicKey()))
    }

    private static let serializedByteCount = 78

    private borrowing func header(version: UInt32) -> [UInt8] {
        bigEndian(version) + [depth] + parentFingerprint + bigEndian(childNumber)
    }
}
