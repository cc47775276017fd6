internal import Crypto
internal import Wire

/// What people compare instead of a public key: the first 16 bytes of its SHA-256, in eight groups
/// of four hexadecimal digits.
enum KeyFingerprint {
    static func text(of publicKey: [UInt8]) -> String {
        let digest = SHA256.digest(publicKey)
        return stride(from: 0, to: 16, by: 2)
            .map { Hex.encode(Array(digest[$0..<($0 + 2)])) }
            .joined(separator: " ")
    }
}
