internal import Glibc
internal import Secrets

/// How a phrase leaves: numbered words for a reader, or as it is for a program.
enum PhraseOutput {
    /// The phrase and a line feed.
    static func line(_ phrase: borrowing SecretBytes) -> SecretBytes {
        let count = phrase.count
        return SecretBytes(count: count + 1) { target in
            phrase.withBytes { target.copyMemory(from: $0) }
            target[count] = 0x0A
        }
    }

    /// One word a line, each with its number, right-aligned.
    static func numbered(_ phrase: borrowing SecretBytes) -> SecretBytes {
        phrase.withBytes { bytes in
            let words = bytes.split(separator: 0x20)
            let count = words.reduce(0) { $0 + $1.count + prefixCount + 1 }
            return SecretBytes(count: count) { target in
                var position = 0
                for (index, word) in words.enumerated() {
                    for byte in prefix(index + 1) {
                        target[position] = byte
                        position += 1
                    }
                    for byte in word {
                        target[position] = byte
                        position += 1
                    }
                    target[position] = 0x0A
                    position += 1
                }
            }
        }
    }

    private static let prefixCount = 5

    private static func prefix(_ number: Int) -> [UInt8] {
        let digits = String(number)
        let blanks = String(repeating: " ", count: max(0, prefixCount - 2 - digits.count))
        return Array("\(blanks)\(digits). ".utf8)
    }
}
