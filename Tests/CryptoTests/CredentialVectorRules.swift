import Crypto
import Secrets
import Testing

/// The chain from a passcode to a wallet secret, at values that were computed once from the written
/// format: a change of any step shows here.
@Suite struct CredentialVectorRules {
    @Test func thePasscodeWrapsTheAccessKey() throws {
        let password = HMAC.sha256(
            key: SecretBytes(copying: rising(0, 32)),
            prefix: Array("telegram.passcode.v1".utf8) + [0], message: secret(ascii: "1234"))
        #expect(
            password.array
                == hex("96fe3229af23b567a8cecbae499f177a5a0958b5fd7aad1588385eb1a4560210"))
        let wrappingKey = try PBKDF2.sha256(
            password: password, salt: rising(0x10, 16), iterations: 600_000, count: 32)
        #expect(
            wrappingKey.array
                == hex("15565f936ed7a2e69e542e9d260a6abe0231336a4b057112ae08460aeefffe84"))
        let context = Array("credential.v1:00000000-0000-4000-8000-000000000001:digits4".utf8)
        let wrapped = try AESGCM.seal(
            SecretBytes(copying: rising(0x40, 32)), key: wrappingKey, nonce: rising(0xa0, 12),
            aad: context)
        let expected = """
            a0a1a2a3a4a5a6a7a8a9aaabce68dddb63e3c4fad0dfd78f01ab83b96b2df930
            6095911d0c342d6dff3f7a3760a6ba6c4dde4e0d82b44e4ec122f03e
            """
        #expect(wrapped == hex(expected))
        let opened = try AESGCM.open(wrapped, key: wrappingKey, aad: context)
        #expect(opened.array == rising(0x40, 32))
    }

    @Test func theAccessKeyOpensTheWallet() throws {
        let namespace = "telegram.production.42"
        let name = "\(namespace):11111111-2222-4333-8444-555555555555"
        let wrappingKey = try HKDF.sha256(
            key: SecretBytes(copying: rising(0x40, 32)), salt: Array(namespace.utf8),
            info: Array("telegram.wallet.dek.v1".utf8), count: 32)
        #expect(
            wrappingKey.array
                == hex("3daf45b5be8fa879da49868d30fe1f48a2f4ebff8747576fab9afa00bc1af220"))
        let dataKey = SecretBytes(copying: rising(0x60, 32))
        let wrapped = try AESGCM.seal(
            dataKey, key: wrappingKey, nonce: rising(0xb0, 12), aad: Array("dek.v1:\(name)".utf8))
        #expect(
            wrapped
                == hex(
                    """
                    b0b1b2b3b4b5b6b7b8b9babb4f919732100596dd3f16f990b6a062bdf6dbbe8b
                    ba7dfe67ecac147f2bfccb545f370547e672ca83e794e5ff039d9d72
                    """))
        let box = try AESGCM.seal(
            secret(ascii: "hello wallet secret"), key: dataKey, nonce: rising(0xc0, 12),
            aad: Array("secret.v1:\(name)".utf8))
        #expect(
            box
                == hex(
                    """
                    c0c1c2c3c4c5c6c7c8c9cacb8945fcbb7a33ac8203807d76afaa7d76f458763d
                    0f0f1d40297a52234de5c004617b01
                    """))
    }
}
