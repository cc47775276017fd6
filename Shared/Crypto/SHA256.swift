public import Secrets

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// The length of a digest in bytes.
    public static let byteCount = 32

    public static func digest(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        Hash.sha256.digest(message)
    }

    public static func digest(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBytes { digest($0) }
    }

    /// The digest of a secret, which is itself one.
    public static func digest(of secret: borrowing SecretBytes) -> SecretBytes {
        Hash.sha256.digest(of: secret)
    }
}
