import Crypto
import Secrets
import TestKit
import Testing
import Wire

@testable import VaultCore

@Suite struct EnvelopeRules {
    private let namespace: Namespace
    private let stranger: Namespace
    private let random = SeededRandom(seed: 7)
    private let wrappingKey = SharedSecret(SecretBytes(copying: Array(0x20..<0x40)))
    private let secret = SecretText("hello wallet secret")

    init() throws {
        namespace = try #require(Namespace("telegram.production.42"))
        stranger = try #require(Namespace("telegram.production.43"))
    }

    private struct SecretText {
        let bytes: [UInt8]

        init(_ text: String) { bytes = Array(text.utf8) }

        var secret: SecretBytes { SecretBytes(copying: bytes) }
    }

    private func sealed() throws -> EnvelopeV1 {
        try EnvelopeV1.seal(
            secret.secret, namespace: namespace, wrappingKey: wrappingKey.bytes, random: random)
    }

    private func open(_ document: [UInt8], for namespace: Namespace? = nil) throws(EnvelopeError)
        -> [UInt8]
    {
        try EnvelopeV1(decoding: document)
            .open(namespace: namespace ?? self.namespace, wrappingKey: wrappingKey.bytes)
            .withBytes { Array($0) }
    }

    @Test func aDocumentFromElsewhereIsMadeAndOpenedAlike() throws {
        let accessKey = SecretBytes(copying: Array(0x40..<0x60))
        let key = try HKDF.sha256(
            key: accessKey, salt: Array(namespace.text.utf8),
            info: Array(KeyDomain.envelopes.rawValue.utf8), count: 32)
        #expect(
            key.withBytes { Hex.encode(Array($0)) }
                == "3daf45b5be8fa879da49868d30fe1f48a2f4ebff8747576fab9afa00bc1af220")
        let envelope = try EnvelopeV1.seal(
            secret.secret, namespace: namespace, vaultID: namespace.text, wrappingKey: key,
            parts: EnvelopeV1.Ingredients(
                secretID: "11111111-2222-4333-8444-555555555555",
                dataKey: SecretBytes(copying: Array(0x60..<0x80)),
                keyNonce: Array(0xb0..<0xbc), secretNonce: Array(0xc0..<0xcc)))
        let document = """
            {"version":1,"vaultId":"telegram.production.42",\
            "secretId":"11111111-2222-4333-8444-555555555555",\
            "wrappedDek":"sLGys7S1tre4ubq7T5GXMhAFlt0/FvmQtqBivfbbvou6ff5n7KwUfyv8y1RfNwVH5nLKg\
            +eU5f8DnZ1y",\
            "ciphertext":"wMHCw8TFxsfIycrLiUX8u3ozrIIDgH12r6p9dvRYdj0PDx1AKXpSI03lwARhewE="}
            """
        #expect(String(decoding: envelope.encoded(), as: UTF8.self) == document)
        let opened = try EnvelopeV1(decoding: Array(document.utf8))
            .open(namespace: namespace, wrappingKey: key)
        #expect(opened.withBytes { Array($0) } == secret.bytes)
    }

    @Test func whatWasSealedOpens() throws {
        #expect(try open(sealed().encoded()) == secret.bytes)
    }

    @Test func everySealIsNew() throws {
        let envelopes = try (0..<50).map { _ in try sealed() }
        #expect(Set(envelopes.map(\.secretID)).count == 50)
        #expect(Set(envelopes.map { $0.wrappedKey.prefix(12) }).count == 50)
        #expect(Set(envelopes.map { $0.ciphertext.prefix(12) }).count == 50)
        #expect(envelopes.allSatisfy { WalletID($0.secretID) != nil })
    }

    @Test func everyFlippedBitIsRefused() throws {
        let document = try sealed().encoded()
        for index in document.indices {
            for bit in 0..<8 {
                var changed = document
                changed[index] ^= 1 << UInt8(bit)
                #expect(throws: EnvelopeError.self) { try open(changed) }
            }
        }
    }

    @Test func everyTruncationIsRefused() throws {
        let document = try sealed().encoded()
        for count in document.indices {
            #expect(throws: EnvelopeError.malformed) { try open(Array(document.prefix(count))) }
        }
    }

    @Test func partsOfTwoEnvelopesDoNotOpenTogether() throws {
        let first = try sealed()
        let second = try sealed()
        for mixed in [
            EnvelopeV1(
                vaultID: first.vaultID, secretID: first.secretID, wrappedKey: first.wrappedKey,
                ciphertext: second.ciphertext),
            EnvelopeV1(
                vaultID: first.vaultID, secretID: first.secretID, wrappedKey: second.wrappedKey,
                ciphertext: first.ciphertext),
            EnvelopeV1(
                vaultID: first.vaultID, secretID: second.secretID, wrappedKey: first.wrappedKey,
                ciphertext: first.ciphertext),
        ] {
            #expect(throws: EnvelopeError.authenticationFailed) { try open(mixed.encoded()) }
        }
    }

    @Test func anotherNamespaceCannotOpenIt() throws {
        let envelope = try sealed()
        #expect(throws: EnvelopeError.wrongVault) { try open(envelope.encoded(), for: stranger) }
        let renamed = EnvelopeV1(
            vaultID: stranger.text, secretID: envelope.secretID, wrappedKey: envelope.wrappedKey,
            ciphertext: envelope.ciphertext)
        #expect(throws: EnvelopeError.authenticationFailed) {
            try open(renamed.encoded(), for: stranger)
        }
    }

    @Test func anotherKeyCannotOpenIt() throws {
        let envelope = try sealed()
        let other = SecretBytes(copying: Array(0x21..<0x41))
        #expect(throws: EnvelopeError.authenticationFailed) {
            _ = try envelope.open(namespace: namespace, wrappingKey: other)
        }
    }

    @Test func nothingIsNotSealed() {
        #expect(throws: EnvelopeError.malformed) {
            try EnvelopeV1.seal(
                SecretBytes(count: 0), namespace: namespace, wrappingKey: wrappingKey.bytes,
                random: random)
        }
    }

    @Test(arguments: [
        ("{", EnvelopeError.malformed),
        ("[]", .malformed),
        (#"{"version":2}"#, .unsupportedVersion),
        (#"{"version":0}"#, .unsupportedVersion),
        (#"{"version":1.0}"#, .malformed),
        (#"{"version":"1"}"#, .malformed),
        (#"{"vaultId":"a"}"#, .malformed),
        (
            #"{"version":1,"vaultId":"a","secretId":"b","wrappedDek":"","ciphertext":""}"#,
            .malformed
        ),
    ])
    func whatIsNoVersionOneDocumentIsRefused(_ text: String, _ error: EnvelopeError) {
        #expect(throws: error) { try EnvelopeV1(decoding: Array(text.utf8)) }
    }

    @Test func lengthsAreCheckedBeforeAnythingIsDecrypted() throws {
        let good = try sealed()
        func changed(
            secretID: String? = nil, wrappedKey: [UInt8]? = nil, ciphertext: [UInt8]? = nil
        ) -> [UInt8] {
            EnvelopeV1(
                vaultID: good.vaultID, secretID: secretID ?? good.secretID,
                wrappedKey: wrappedKey ?? good.wrappedKey,
                ciphertext: ciphertext ?? good.ciphertext
            ).encoded()
        }
        for document in [
            changed(secretID: ""), changed(secretID: String(repeating: "A", count: 129)),
            changed(wrappedKey: Array(good.wrappedKey.dropLast())),
            changed(wrappedKey: good.wrappedKey + [0]),
            changed(ciphertext: Array(good.ciphertext.prefix(28))), changed(ciphertext: []),
        ] {
            #expect(throws: EnvelopeError.malformed) { try open(document) }
        }
        #expect(try open(changed()) == secret.bytes)
    }
}
