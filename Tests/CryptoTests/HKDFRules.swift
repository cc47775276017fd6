import Crypto
import Secrets
import Testing

@Suite struct HKDFRules {
    /// RFC 5869, appendix A.1 to A.3: key, salt, info, output.
    static let published: [([UInt8], [UInt8], [UInt8], String)] = [
        (
            [UInt8](repeating: 0x0b, count: 22), rising(0, 13), rising(0xf0, 10),
            """
            3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf
            34007208d5b887185865
            """
        ),
        (
            rising(0, 80), rising(0x60, 80), rising(0xb0, 80),
            """
            b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c
            59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71
            cc30c58179ec3e87c14c01d5c1f3434f1d87
            """
        ),
        (
            [UInt8](repeating: 0x0b, count: 22), [], [],
            """
            8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d
            9d201395faa4b61a96c8
            """
        ),
    ]

    @Test(arguments: published)
    func theOutputsArePublished(key: [UInt8], salt: [UInt8], info: [UInt8], output: String) throws {
        let expected = hex(output)
        let key = SecretBytes(copying: key)
        for count in 1...expected.count {
            let derived = try HKDF.sha256(key: key, salt: salt, info: info, count: count)
            #expect(derived.array == Array(expected[..<count]))
        }
    }

    @Test(arguments: [
        (0, 0), (-1, 0), (HKDF.outputBytesMax + 1, 0), (32, HKDF.infoBytesMax + 1),
    ]) func lengthsThatDoNotExistAreRefused(count: Int, infoCount: Int) {
        #expect(throws: CryptoError.invalidLength) {
            let info = [UInt8](repeating: 1, count: infoCount)
            _ = try HKDF.sha256(key: SecretBytes(count: 32), salt: [], info: info, count: count)
        }
    }

    /// Against extract and expand written out with HMAC, at the edges that the RFC has no case for.
    @Test(arguments: [
        (0, 0, 0), (32, 0, HKDF.infoBytesMax), (0, 64, 1), (200, 300, 500),
    ]) func theLongestAndTheShortestInputsFollowTheRule(key: Int, salt: Int, info: Int) throws {
        let input = SecretBytes(copying: rising(3, key % 256))
        let salt = [UInt8](repeating: 7, count: salt)
        let info = [UInt8](repeating: 9, count: info)
        let extracted = HMAC.sha256(key: SecretBytes(copying: salt), message: input)
        var previous: [UInt8] = []
        var expected: [UInt8] = []
        for block in UInt8(1)...255 {
            previous = HMAC.sha256(key: extracted, message: previous + info + [block]).array
            expected += previous
        }
        let derived = try HKDF.sha256(
            key: input, salt: salt, info: info, count: HKDF.outputBytesMax)
        #expect(derived.array == expected)
    }
}
