/// RIPEMD-160, which names public keys in BIP-32; nothing's secrecy rests on it.
public enum RIPEMD160 {
    /// The length of a digest in bytes.
    public static let byteCount = 20

    public static func digest(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBytes { Hash.ripemd160.digest($0) }
    }
}
