import Crypto
import Foundation
import LimiterMessages
import Secrets
import Testing
import Wire

/// The worked example of `docs/formats.md` is what the formats give.
@Suite struct WorkedExampleRules {
    private static let path = "docs/formats.md"

    @Test func everyValueOfTheExampleIsRight() throws {
        let documented = Self.documented(in: Repository.text(of: Self.path))
        #expect(documented == (try Self.computed()))
    }

    @Test func aWrongValueIsNoticed() throws {
        let text = Repository.text(of: Self.path)
        let changed = text.replacing("| KEK | `15", with: "| KEK | `16")
        #expect(changed != text)
        #expect(Self.documented(in: changed) != (try Self.computed()))
    }

    @Test func theDocumentsOfTheExampleHoldItsValues() throws {
        let text = Repository.text(of: Self.path)
        let values = try Self.computed()
        for name in ["wrappedKey", "wrappedDek", "ciphertext"] {
            let bytes = try #require(Hex.decode(values[name] ?? ""))
            #expect(text.contains("\"\(name)\":\"\(Data(bytes).base64EncodedString())\""))
        }
    }

    private static func documented(in text: String) -> [String: String] {
        let rows = MarkdownTable.all(in: text, with: ["Value", "Bytes"]).flatMap { table in
            table.rows.map(table.named)
        }
        return Dictionary(rows.map { ($0["Value"] ?? "", $0["Bytes"] ?? "") }) { $1 }
    }

    // MARK: The example

    private static let accessKey = SecretBytes(copying: rising(0x40, 32))

    private static func computed() throws -> [String: String] {
        var values = try passcodeValues()
        values.merge(try limiterValues()) { $1 }
        values.merge(try walletValues()) { $1 }
        return values
    }

    private static func passcodeValues() throws -> [String: String] {
        let password = HMAC.sha256(
            key: SecretBytes(copying: rising(0, 32)),
            prefix: Array("telegram.passcode.v1\0".utf8),
            message: SecretBytes(copying: Array("1234".utf8)))
        let key = try PBKDF2.sha256(
            password: password, salt: rising(0x10, 16), iterations: 600_000, count: 32)
        let wrapped = try AESGCM.seal(
            accessKey, key: key, nonce: rising(0xA0, 12),
            aad: Array("credential.v1:00000000-0000-4000-8000-000000000001:digits4".utf8))
        return ["password": hex(password), "KEK": hex(key), "wrappedKey": Hex.encode(wrapped)]
    }

    private static func limiterValues() throws -> [String: String] {
        let seed = try HKDF.sha256(
            key: accessKey, salt: [], info: Array("coffer.attempt.confirm.v1".utf8), count: 32)
        let key = try Ed25519SigningKey(seed: seed)
        let owner = try #require(Owner("local"))
        let statement = SignedStatement.confirm.bytes(owner: owner, drawn: rising(0, 16))
        return [
            "confirm seed": hex(seed), "confirm public key": Hex.encode(key.publicKey),
            "statement": Hex.encode(statement), "signature": Hex.encode(key.sign(statement)),
        ]
    }

    private static func walletValues() throws -> [String: String] {
        let namespace = "telegram.production.42"
        let name = "\(namespace):11111111-2222-4333-8444-555555555555"
        let wrappingKey = try HKDF.sha256(
            key: accessKey, salt: Array(namespace.utf8),
            info: Array("telegram.wallet.dek.v1".utf8), count: 32)
        let dataKey = SecretBytes(copying: rising(0x60, 32))
        let wrapped = try AESGCM.seal(
            dataKey, key: wrappingKey, nonce: rising(0xB0, 12),
            aad: Array("dek.v1:\(name)".utf8))
        let box = try AESGCM.seal(
            SecretBytes(copying: Array("hello wallet secret".utf8)), key: dataKey,
            nonce: rising(0xC0, 12), aad: Array("secret.v1:\(name)".utf8))
        return [
            "wrapping key": hex(wrappingKey), "wrappedDek": Hex.encode(wrapped),
            "ciphertext": Hex.encode(box),
        ]
    }

    private static func rising(_ first: UInt8, _ count: Int) -> [UInt8] {
        (0..<count).map { first + UInt8($0) }
    }

    private static func hex(_ bytes: borrowing SecretBytes) -> String {
        bytes.withBytes { Hex.encode(Array($0)) }
    }
}
