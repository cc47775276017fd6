import Secrets
import Wire

extension JSONObject {
    func secretText(_ key: String) throws -> SecretBytes {
        SecretBytes(copying: Array(try string(key).utf8))
    }

    func secretHex(_ key: String) throws -> SecretBytes { SecretBytes(copying: try hex(key)) }
}

extension Value {
    static func hex(_ secret: borrowing SecretBytes) -> Value { secret.withBytes { .hex($0) } }

    static func text(_ secret: borrowing SecretBytes) -> Value {
        secret.withBytes { .string(String(decoding: $0, as: UTF8.self)) }
    }
}
