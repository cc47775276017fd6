import Crypto
import Secrets
import TestKit
import Testing

@testable import BackupShares

@Suite struct MessageKeyRules {
    static let agreed = "e2789074c1568cb45c2dbd85d0aeba67bf11cd45cd0e04504c23dc346ed8c33d"

    @Test func thePublishedPairsAgree() throws {
        let alice = try KeyPair.alice.get()
        let bob = try KeyPair.bob.get()
        #expect(
            hex(alice.publicKey)
                == "46f1b4093e62f03f826277e1a766a4542d6d3d1048c3ee17e99a8d0631fe9992")
        #expect(
            hex(bob.publicKey) == "d55dc11b099ba3e330b30ed095628de0e6453c13fdcfd56116564a45dcd3ac6c"
        )
        let curve = try X25519.sharedSecret(
            EdwardsAgreement.scalar(seed: alice.privateKey.bytes),
            with: EdwardsAgreement.coordinate(publicKey: bob.publicKey))
        #expect(
            hex(curve.array) == "094e8db0f070e7d9de33d72b16fc4a10b6ed2a002423b1bcb431ec6f80a6c950")
        #expect(try hex(key(alice, bob.publicKey).bytes.array) == Self.agreed)
        #expect(try hex(key(bob, alice.publicKey).bytes.array) == Self.agreed)
    }

    @Test func theSignOfAPublicKeyDoesNotMatter() throws {
        let alice = try KeyPair.alice.get()
        var other = try KeyPair.bob.get().publicKey
        other[31] ^= 0x80
        #expect(try hex(key(alice, other).bytes.array) == Self.agreed)
    }

    /// Zero, the neutral element, both with the sign set, minus one, and two of order eight.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ]) func aKeyOfLowOrderIsRefused(_ publicKey: String) throws {
        let alice = try KeyPair.alice.get()
        #expect(throws: ShareError.invalidKey) { _ = try key(alice, bytes(publicKey)) }
    }

    @Test(arguments: [0, 31, 33, 64]) func anotherLengthIsRefused(_ count: Int) throws {
        let alice = try KeyPair.alice.get()
        #expect(throws: ShareError.invalidKey) {
            _ = try key(alice, [UInt8](repeating: 2, count: count))
        }
        #expect(throws: ShareError.invalidKey) {
            _ = try MessageKey(privateKey: SecretBytes(count: count), publicKey: alice.publicKey)
        }
        #expect(throws: ShareError.invalidKey) { _ = try MessageKey(SecretBytes(count: count)) }
    }

    private func key(_ pair: KeyPair, _ publicKey: [UInt8]) throws -> MessageKey {
        try MessageKey(privateKey: pair.privateKey.bytes, publicKey: publicKey)
    }
}

@Suite struct MessageRules {
    static func key(_ bytes: [UInt8] = PublishedMessage.secret) throws -> MessageKey {
        try MessageKey(secret(bytes))
    }

    @Test(arguments: PublishedMessage.all)
    func thePublishedMessagesHoldInBothDirections(_ published: PublishedMessage) throws {
        let key = try Self.key()
        let made = try MessageBox.seal(
            secret(published.payload), key: key, extra: published.extra, fillingPrefix: { _ in })
        #expect(made == published.message)
        let read = try MessageBox.read(published.message, key: key, extra: published.extra)
        #expect(read.payload().array == published.payload)
        #expect(read.restOfPrefix().array.allSatisfy { $0 == 0 })
        let header = try MessageBox.oneTimeKey(
            published.header, of: published.message, key: key)
        #expect(header.array == PublishedMessage.oneTimeKey)
    }

    @Test func thereAreSevenPublishedMessages() {
        #expect(PublishedMessage.all.count == 7)
        #expect(PublishedMessage.all.filter { !$0.extra.isEmpty }.count == 2)
    }

    @Test func extraDataIsCovered() throws {
        let published = try #require(PublishedMessage.all.first { !$0.extra.isEmpty })
        #expect(throws: ShareError.authenticationFailed) {
            _ = try MessageBox.open(published.message, key: Self.key())
        }
    }

    @Test(arguments: 0...49) func anyLengthComesBackAndEveryMessageIsNew(_ count: Int) throws {
        let payload = (0..<count).map { UInt8($0) }
        let first = try MessageBox.seal(secret(payload), key: Self.key(), random: KernelRandom())
        let second = try MessageBox.seal(secret(payload), key: Self.key(), random: KernelRandom())
        #expect(first.count == 16 + (count + 31) / 16 * 16)
        #expect(try MessageBox.open(first, key: Self.key()).array == payload)
        #expect(first != second)
    }

    @Test func allOfThePrefixButItsLengthIsRandom() throws {
        let given = (1...19).map { UInt8($0) }
        let source = GivenRandom(given)
        let payload = SecretBytes(count: 220)
        let message = try MessageBox.seal(payload, key: Self.key(), random: source)
        #expect(message.count == 256)
        #expect(source.isExhausted)
        let read = try MessageBox.read(message, key: Self.key())
        #expect(read.prefixBytes == 20)
        #expect(read.restOfPrefix().array == given)
    }

    @Test func everyChangedBitIsRefused() throws {
        let message = try MessageBox.seal(
            secret("a payload"), key: Self.key(), random: KernelRandom())
        for bit in 0..<message.count * 8 {
            var changed = message
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: ShareError.authenticationFailed) {
                _ = try MessageBox.open(changed, key: Self.key())
            }
        }
        var otherKey = PublishedMessage.secret
        otherKey[31] ^= 1
        #expect(throws: ShareError.authenticationFailed) {
            _ = try MessageBox.open(message, key: Self.key(otherKey))
        }
    }

    @Test(arguments: [0, 1, 15, 16, 17, 31, 33, 255, 65_552])
    func aLengthThatCannotBeIsRefused(_ count: Int) throws {
        let message = [UInt8](repeating: 7, count: count)
        let bob = try KeyPair.bob.get()
        #expect(throws: ShareError.malformed) {
            _ = try MessageBox.open(message, key: Self.key())
        }
        #expect(throws: ShareError.malformed) {
            _ = try MessageBox.open(
                message, privateKey: bob.privateKey.bytes, from: bob.publicKey)
        }
        #expect(throws: ShareError.malformed) {
            _ = try MessageBox.open(
                message, header: [UInt8](repeating: 7, count: 32), key: Self.key())
        }
    }

    /// The message is made as one with an empty payload, whose first byte is then another.
    @Test(
        arguments: [
            (16, nil), (32, nil), (33, .malformed), (15, .malformed), (0, .malformed),
            (255, .malformed),
        ] as [(UInt8, ShareError?)])
    func aPrefixIsOfSixteenBytesUpToAll(_ prefixBytes: UInt8, _ error: ShareError?) throws {
        let plaintext = [prefixBytes] + [UInt8](repeating: 9, count: 31)
        let message = try Foreign.message(of: plaintext, key: PublishedMessage.secret)
        if let error {
            #expect(throws: error) { _ = try MessageBox.open(message, key: Self.key()) }
        } else {
            let payload = try MessageBox.open(message, key: Self.key())
            #expect(payload.array == Array(plaintext[Int(prefixBytes)...]))
        }
    }

    @Test func aPayloadThatIsTooLongIsNotSealed() throws {
        let count = MessageBox.messageBytesMax - 32
        let message = try MessageBox.seal(
            SecretBytes(count: count), key: Self.key(), random: KernelRandom())
        #expect(message.count == MessageBox.messageBytesMax)
        #expect(try MessageBox.open(message, key: Self.key()).count == count)
        #expect(throws: ShareError.malformed) {
            _ = try MessageBox.seal(
                SecretBytes(count: count + 1), key: Self.key(), random: KernelRandom())
        }
    }

    @Test func aMessageForManyIsReadByItsHeader() throws {
        let oneTime = SHA256.digest([3])
        let message = try MessageBox.seal(
            secret("for many"), key: Self.key(oneTime), random: KernelRandom())
        let header = try Foreign.header(
            oneTime, of: message, key: PublishedMessage.secret)
        let read = try MessageBox.open(message, header: header, key: Self.key())
        #expect(read.text == "for many")
        for bit in 0..<256 {
            var changed = header
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: ShareError.authenticationFailed) {
                _ = try MessageBox.open(message, header: changed, key: Self.key())
            }
        }
        for count in [0, 31, 33, 48] {
            #expect(throws: ShareError.malformed) {
                _ = try MessageBox.open(
                    message, header: [UInt8](repeating: 1, count: count), key: Self.key())
            }
        }
    }
}

/// Messages as another writer makes them, step by step from the format.
enum Foreign {
    static func message(of plaintext: [UInt8], key: [UInt8]) throws -> [UInt8] {
        let both = HMAC.sha512(key: secret(key), message: Array("tde2e_encrypt_data".utf8)).array
        let code = HMAC.sha256(
            key: secret(Array(both[32...])), message: plaintext + [0, 0, 0, 0])
        let identity = Array(code.array[..<16])
        return try identity + encrypt(plaintext, Array(both[..<32]), identity)
    }

    static func header(_ oneTime: [UInt8], of message: [UInt8], key: [UInt8]) throws -> [UInt8] {
        let headerKey = HMAC.sha512(
            key: secret(key), message: Array("tde2e_encrypt_header".utf8)
        ).array
        return try encrypt(oneTime, Array(headerKey[..<32]), Array(message[..<16]))
    }

    private static func encrypt(
        _ plaintext: [UInt8], _ key: [UInt8], _ identity: [UInt8]
    ) throws -> [UInt8] {
        let cipher = HMAC.sha512(key: secret(key), message: identity)
        return try AESCBC.encrypt(
            secret(plaintext), key: cipher.slice(0..<32), iv: cipher.slice(32..<48))
    }
}
