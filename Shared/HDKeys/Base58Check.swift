internal import Crypto
public import Secrets

/// Base58 with a four-byte double SHA-256 checksum, the text form of keys and addresses.
public enum Base58Check {
    /// The text of public bytes.
    public static func text(of payload: [UInt8]) -> String {
        let text = secretText(of: SecretBytes(copying: payload))
        return text.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The text of secret bytes, in secret memory throughout.
    public static func secretText(of payload: borrowing SecretBytes) -> SecretBytes {
        let checksum = SHA256.digest(of: SHA256.digest(of: payload))
        let checked = SecretBytes(count: payload.count + checksumByteCount) { target in
            payload.withBytes { put($0, at: 0, in: target) }
            checksum.withBytes {
                put(.init(rebasing: $0[..<checksumByteCount]), at: payload.count, in: target)
            }
        }
        return checked.withBytes { encode($0) }
    }

    private static let checksumByteCount = 4
    private static let alphabet = Array(
        "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)

    private static func encode(_ bytes: UnsafeRawBufferPointer) -> SecretBytes {
        // log(256) / log(58) is below 1.38.
        var digits = SecretBytes(count: bytes.count * 138 / 100 + 1)
        let leading = digits.withMutableBytes { digits in
            for byte in bytes {
                var carry = Int(byte)
                for place in digits.indices.reversed() {
                    carry += Int(digits[place]) << 8
                    digits[place] = UInt8(carry % 58)
                    carry /= 58
                }
            }
            return digits.prefix { $0 == 0 }.count
        }
        // Each leading zero byte is one zero digit of its own.
        let zeros = bytes.prefix { $0 == 0 }.count
        return digits.withBytes { digits in
            SecretBytes(count: zeros + digits.count - leading) { target in
                for place in target.indices {
                    let digit = place < zeros ? 0 : digits[leading + place - zeros]
                    target[place] = alphabet[Int(digit)]
                }
            }
        }
    }
}
