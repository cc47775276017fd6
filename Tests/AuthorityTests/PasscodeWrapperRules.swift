import AuthorityMessages
import Crypto
import Secrets
import Testing
import Wire

@testable import AuthorityCore

/// A wrapper opens under its passcode's key, for its credential and kind, and never otherwise.
struct PasscodeWrapperRules {
    private let id = "00000000-0000-4000-8000-000000000001"
    private let accessKey = SharedSecret(SecretBytes(copying: Array(0x40...0x5f)))
    private let nonce = [UInt8](0xa0...0xab)

    @Test func theWholeChainGivesTheKnownWrapper() throws {
        let password = HMAC.sha256(
            key: SecretBytes(copying: Array(0x00...0x1f)),
            message: Array("telegram.passcode.v1\0".utf8) + Array("1234".utf8))
        let key = try PBKDF2.sha256(
            password: password, salt: Array(0x10...0x1f), iterations: 600_000, count: 32)
        let wrapped = try PasscodeWrapper.seal(
            accessKey.bytes, under: key, nonce: nonce, credential: id, kind: .digits4)
        #expect(
            Hex.encode(wrapped)
                == "a0a1a2a3a4a5a6a7a8a9aaabce68dddb63e3c4fad0dfd78f01ab83b96b2df930"
                + "6095911d0c342d6dff3f7a3760a6ba6c4dde4e0d82b44e4ec122f03e")
    }

    @Test func nothingButItsOwnKeyCredentialAndKindOpensIt() throws {
        let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
        let wrapped = try PasscodeWrapper.seal(
            accessKey.bytes, under: key, nonce: nonce, credential: id, kind: .digits6)
        let opened = try PasscodeWrapper.open(
            wrapped, under: key, credential: id, kind: .digits6)
        #expect(opened.open == accessKey.bytes.open)
        #expect(throws: PasscodeWrapperError.wrongKey) {
            _ = try PasscodeWrapper.open(wrapped, under: key, credential: id, kind: .digits4)
        }
        #expect(throws: PasscodeWrapperError.wrongKey) {
            _ = try PasscodeWrapper.open(
                wrapped, under: key, credential: "other", kind: .digits6)
        }
        #expect(throws: PasscodeWrapperError.wrongKey) {
            _ = try PasscodeWrapper.open(
                wrapped, under: SecretBytes(count: 32), credential: id, kind: .digits6)
        }
        for index in wrapped.indices {
            var changed = wrapped
            changed[index] ^= 1
            #expect(throws: PasscodeWrapperError.wrongKey) {
                _ = try PasscodeWrapper.open(
                    changed, under: key, credential: id, kind: .digits6)
            }
        }
    }

    /// A box with a wrong bit, a box of another key, and one that is too long.
    @Test(arguments: 0..<3)
    func aFreshWrapperThatDoesNotOpenIsNone(_ slip: Int) {
        let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
        #expect(throws: PasscodeWrapperError.damaged) {
            _ = try PasscodeWrapper.seal(
                accessKey.bytes, under: key, nonce: nonce, credential: id, kind: .digits4
            ) { plaintext, key, nonce, data throws(CryptoError) in
                switch slip {
                case 0:
                    var box = try AESGCM.seal(plaintext, key: key, nonce: nonce, aad: data)
                    box[20] ^= 1
                    return box
                case 1:
                    let other = SecretBytes(count: plaintext.count)
                    return try AESGCM.seal(other, key: key, nonce: nonce, aad: data)
                default:
                    let longer = SecretBytes(count: plaintext.count + 1)
                    return try AESGCM.seal(longer, key: key, nonce: nonce, aad: data)
                }
            }
        }
    }

    @Test(arguments: [0, 28, 59, 61])
    func anotherLengthIsDamageAndNoWrongPasscode(_ count: Int) {
        #expect(throws: PasscodeWrapperError.damaged) {
            _ = try PasscodeWrapper.open(
                [UInt8](repeating: 0, count: count), under: SecretBytes(count: 32),
                credential: id, kind: .digits4)
        }
    }
}
