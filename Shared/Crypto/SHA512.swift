public import Secrets

/// SHA-512 (FIPS 180-4).
public enum SHA512 {
    /// The length of a digest in bytes.
    public static let byteCount = 64

    public static func digest(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        Hash.sha512.digest(message)
    }

    public static func digest(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBytes { digest($0) }
    }

    /// The digest of a secret, which is itself one.
    public static func digest(of secret: borrowing SecretBytes) -> SecretBytes {
        Hash.sha512.digest(of: secret)
    }
}
