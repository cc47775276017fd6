internal import Crypto

/// RIPEMD-160 of SHA-256 of a public key, 20 bytes: what BIP-32 fingerprints and addresses show.
public enum KeyIdentifier {
    public static func of(publicKey: [UInt8]) -> [UInt8] {
        RIPEMD160.digest(SHA256.digest(publicKey))
    }
}
