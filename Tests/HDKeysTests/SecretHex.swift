import Secrets

/// Bytes of lower-case digits written in a test.
func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).compactMap { index in
        UInt8(String(digits[index...(index + 1)]), radix: 16)
    }
}

func secret(hex: String) -> SecretBytes { SecretBytes(copying: bytes(hex)) }

func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}

func hex(_ secret: borrowing SecretBytes) -> String { secret.withBytes { hex($0) } }
