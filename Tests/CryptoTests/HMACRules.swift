import Crypto
import Secrets
import Testing

/// RFC 4231, section 4.
struct HMACCase: Sendable {
    var key: [UInt8]
    var message: [UInt8]
    var sha256: String
    var sha512: String

    static let published = [
        HMACCase(
            key: [UInt8](repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            sha256: "b0344c61d8db38535ca8afceaf0bf12b 881dc200c9833da726e9376c2e32cff7",
            sha512: """
                87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde
                daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854
                """),
        HMACCase(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            sha256: "5bdcc146bf60754e6a042426089575c7 5a003f089d2739839dec58b964ec3843",
            sha512: """
                164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554
                9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737
                """),
        HMACCase(
            key: [UInt8](repeating: 0xaa, count: 20), message: [UInt8](repeating: 0xdd, count: 50),
            sha256: "773ea91e36800e46854db8ebd09181a7 2959098b3ef8c122d9635514ced565fe",
            sha512: """
                fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39
                bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb
                """),
        HMACCase(
            key: rising(1, 25), message: [UInt8](repeating: 0xcd, count: 50),
            sha256: "82558a389a443c0ea4cc819899f2083a 85f0faa3e578f8077a2e3ff46729665b",
            sha512: """
                b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3db
                a91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd
                """),
        HMACCase(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            sha256: "60e431591ee0b67f0d8a26aacbf5b77f 8e0bc6213728c5140546040f0ee37f54",
            sha512: """
                80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352
                6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598
                """),
    ]
}

@Suite struct HMACRules {
    @Test(arguments: HMACCase.published) func theResultsArePublished(_ known: HMACCase) {
        let key = SecretBytes(copying: known.key)
        #expect(HMAC.sha256(key: key, message: known.message).array == hex(known.sha256))
        #expect(HMAC.sha512(key: key, message: known.message).array == hex(known.sha512))
    }

    @Test(arguments: HMACCase.published) func aMessageMayComeInPieces(_ known: HMACCase) {
        let key = SecretBytes(copying: known.key)
        let split = known.message.count / 3
        let prefix = Array(known.message[..<split])
        let rest = SecretBytes(copying: Array(known.message[split...]))
        #expect(HMAC.sha256(key: key, prefix: prefix, message: rest).array == hex(known.sha256))
        #expect(HMAC.sha512(key: key, prefix: prefix, message: rest).array == hex(known.sha512))
        let inPieces = known.message.withUnsafeBytes { all in
            let empty = UnsafeRawBufferPointer(start: nil, count: 0)
            let first = UnsafeRawBufferPointer(rebasing: all[..<split])
            let second = UnsafeRawBufferPointer(rebasing: all[split...])
            let parts = [first, empty, second]
            return [
                HMAC.sha256(key: key, parts: parts).array,
                HMAC.sha512(key: key, parts: parts).array,
            ]
        }
        #expect(inPieces == [hex(known.sha256), hex(known.sha512)])
    }

    /// As Python's `hmac` gives it, and RFC 2104 by a key of zeros.
    @Test func anEmptyKeyIsAKeyOfZeros() {
        let empty = SecretBytes(count: 0)
        #expect(
            HMAC.sha256(key: empty, message: []).array
                == hex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
    }
}
