import Secrets
import Wire

extension JSONObject {
    func secretText(_ key: String) throws -> SecretBytes {
        SecretBytes(copying: Array(try string(key).utf8))
    }

    func secretHex(_ key: String) throws -> SecretBytes { SecretBytes(copying: try hex(key)) }

    /// A list of words as the text that a person types.
    func words(_ key: String) throws -> SecretBytes {
        SecretBytes(copying: Array(try strings(key).joined(separator: " ").utf8))
    }

    func hexStrings(_ key: String) throws -> [[UInt8]] {
        try strings(key).map { text in
            guard let bytes = Hex.decode(text) else { throw VectorProblem("\(key) is not hex") }
            return bytes
        }
    }
}

extension Value {
    static func hex(_ secret: borrowing SecretBytes) -> Value { secret.withBytes { .hex($0) } }

    /// The words of a phrase in which one space parts them.
    static func words(_ phrase: borrowing SecretBytes) -> Value {
        let text = phrase.withBytes { String(decoding: $0, as: UTF8.self) }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return .array(words.map { .string(String($0)) })
    }

    static func text(_ secret: borrowing SecretBytes) -> Value {
        secret.withBytes { .string(String(decoding: $0, as: UTF8.self)) }
    }
}
