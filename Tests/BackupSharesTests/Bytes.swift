import Secrets

/// Bytes of lower-case digits written in a test.
func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).compactMap { index in
        UInt8(String(digits[index...(index + 1)]), radix: 16)
    }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}

func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes) }

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

func shared(_ bytes: [UInt8]) -> SharedSecret { SharedSecret(secret(bytes)) }

extension SecretBytes {
    var array: [UInt8] { withBytes { Array($0) } }
    var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }
}

extension SharedSecret {
    var array: [UInt8] { bytes.array }
}

func xor(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { zip(left, right).map { $0 ^ $1 } }
