import Crypto
import Secrets
import Testing

/// RFC 8032, section 7.1.
struct SigningCase: Sendable {
    var seed: String
    var publicKey: String
    var message: String
    var signature: String

    static let published = [
        SigningCase(
            seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            message: "",
            signature: """
                e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
                5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
                """),
        SigningCase(
            seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            message: "72",
            signature: """
                92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
                085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
                """),
        SigningCase(
            seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            message: "af82",
            signature: """
                6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
                18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
                """),
        SigningCase(
            seed: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            publicKey: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            message: """
                ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
                2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
                """,
            signature: """
                dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589
                09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704
                """),
    ]
}

@Suite struct Ed25519Rules {
    @Test(arguments: SigningCase.published) func theSignaturesArePublished(
        _ known: SigningCase
    ) throws {
        let seed = secret(known.seed)
        let message = hex(known.message)
        #expect(try Ed25519.publicKey(seed: seed) == hex(known.publicKey))
        #expect(try Ed25519.sign(message, seed: seed) == hex(known.signature))
        let key = try Ed25519SigningKey(seed: seed)
        #expect(key.publicKey == hex(known.publicKey))
        let first = key.sign(message)
        let second = message.withUnsafeBytes { key.sign($0) }
        #expect([first, second] == [hex(known.signature), hex(known.signature)])
        #expect(Ed25519.verify(first, message, publicKey: key.publicKey))
    }

    @Test(arguments: SigningCase.published) func anyBitChangedIsRefused(_ known: SigningCase) {
        let signature = hex(known.signature)
        let publicKey = hex(known.publicKey)
        let message = hex(known.message)
        for changed in oneBitAway(signature) {
            #expect(!Ed25519.verify(changed, message, publicKey: publicKey))
        }
        for changed in oneBitAway(publicKey) {
            #expect(!Ed25519.verify(signature, message, publicKey: changed))
        }
        for changed in oneBitAway(message) {
            #expect(!Ed25519.verify(signature, changed, publicKey: publicKey))
        }
        #expect(!Ed25519.verify(signature, message + [0], publicKey: publicKey))
    }

    @Test func anotherLengthIsRefused() throws {
        let known = SigningCase.published[1]
        let (signature, key) = (hex(known.signature), hex(known.publicKey))
        #expect(!Ed25519.verify(signature + [0], [0x72], publicKey: key))
        #expect(!Ed25519.verify(Array(signature.dropLast()), [0x72], publicKey: key))
        #expect(!Ed25519.verify([], [0x72], publicKey: key))
        #expect(!Ed25519.verify(signature, [0x72], publicKey: key + [0]))
        #expect(!Ed25519.verify(signature, [0x72], publicKey: []))
        for count in [0, 31, 33, 64] {
            #expect(throws: CryptoError.invalidLength) {
                _ = try Ed25519.publicKey(seed: SecretBytes(count: count))
            }
        }
    }

    /// `S + L` satisfies the equation too: a second form of the same signature.
    @Test func anSBeyondTheOrderIsRefused() {
        let known = SigningCase.published[1]
        let order = hex("edd3f55c1a631258d69cf7a2def9de14 00000000000000000000000000000010")
        var signature = hex(known.signature)
        var carry = 0
        for index in 0..<32 {
            let sum = Int(signature[32 + index]) + Int(order[index]) + carry
            signature[32 + index] = UInt8(truncatingIfNeeded: sum)
            carry = sum >> 8
        }
        #expect(!Ed25519.verify(signature, [0x72], publicKey: hex(known.publicKey)))
    }

    /// With the neutral element as key and `R`, `S = 0` satisfies the equation for every message.
    @Test func aKeyOfSmallOrderIsRefused() {
        let neutral = [1] + [UInt8](repeating: 0, count: 31)
        let forged = neutral + [UInt8](repeating: 0, count: 32)
        #expect(!Ed25519.verify(forged, [1, 2, 3], publicKey: neutral))
    }

    @Test func twoKeysSignApart() throws {
        let first = try Ed25519SigningKey(seed: SecretBytes(copying: rising(0, 32)))
        let second = try Ed25519SigningKey(seed: SecretBytes(copying: rising(1, 32)))
        let signature = first.sign([1, 2, 3])
        #expect(Ed25519.verify(signature, [1, 2, 3], publicKey: first.publicKey))
        #expect(!Ed25519.verify(signature, [1, 2, 3], publicKey: second.publicKey))
    }
}

private func oneBitAway(_ bytes: [UInt8]) -> [[UInt8]] {
    bytes.indices.flatMap { index in
        (0..<8).map { bit in
            var changed = bytes
            changed[index] ^= 1 << bit
            return changed
        }
    }
}
