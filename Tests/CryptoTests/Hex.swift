import Secrets

/// The bytes of a hexadecimal text, in which blanks may stand.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap { $0.hexDigitValue.map(UInt8.init) }
    precondition(digits.count % 2 == 0)
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: hex(text)) }

func secret(ascii text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

/// `count` bytes that begin with `first` and rise by one.
func rising(_ first: UInt8, _ count: Int) -> [UInt8] { (0..<count).map { first &+ UInt8($0) } }

extension SecretBytes {
    var array: [UInt8] { withBytes { Array($0) } }
}
