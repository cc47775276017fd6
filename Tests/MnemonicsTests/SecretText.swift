import Secrets

@testable import Mnemonics

enum EnglishList {
    static let words = String(
        decoding: WordList.fileForm(of: EnglishWords.text), as: UTF8.self
    ).split(separator: "\n").map(String.init)
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

func secret(hex: String) -> SecretBytes {
    SecretBytes(copying: bytes(ofHex: hex.utf8) ?? [])
}

func text(_ secret: borrowing SecretBytes) -> String {
    secret.withBytes { String(decoding: $0, as: UTF8.self) }
}

func hex(_ secret: borrowing SecretBytes) -> String {
    secret.withBytes { bytes in
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

func hex(_ bytes: [UInt8]) -> String { hex(SecretBytes(copying: bytes)) }

func normalized(_ typed: String) throws -> String { text(try Mnemonic.normalize(secret(typed))) }

func isPublished(_ phrase: String) -> Bool { PublishedPhrases.contains(secret(phrase)) }

func holdsEveryWord(_ phrase: String) throws -> Bool {
    try WordList.english().holdsEveryWord(of: secret(phrase))
}
