import Crypto
import Secrets
import Testing

/// Test cases 13 to 16 of the GCM specification (McGrew and Viega), which NIST published with it.
struct GCMCase: Sendable {
    var key: [UInt8]
    var nonce: [UInt8]
    var aad: [UInt8]
    var plaintext: [UInt8]
    var ciphertext: [UInt8]
    var tag: [UInt8]

    static let plainText = hex(
        """
        d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
        1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
        """)
    static let cipherText = hex(
        """
        522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
        8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad
        """)
    static let key = hex("feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308")
    static let nonce = hex("cafebabefacedbaddecaf888")

    static let published = [
        GCMCase(
            key: [UInt8](repeating: 0, count: 32), nonce: [UInt8](repeating: 0, count: 12), aad: [],
            plaintext: [], ciphertext: [], tag: hex("530f8afbc74536b9a963b4f1c4cb738b")),
        GCMCase(
            key: [UInt8](repeating: 0, count: 32), nonce: [UInt8](repeating: 0, count: 12), aad: [],
            plaintext: [UInt8](repeating: 0, count: 16),
            ciphertext: hex("cea7403d4d606b6e074ec5d3baf39d18"),
            tag: hex("d0d1c8a799996bf0265b98b5d48ab919")),
        GCMCase(
            key: key, nonce: nonce, aad: [], plaintext: plainText, ciphertext: cipherText,
            tag: hex("b094dac5d93471bdec1a502270e3cc6c")),
        GCMCase(
            key: key, nonce: nonce, aad: hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
            plaintext: Array(plainText[..<60]), ciphertext: Array(cipherText[..<60]),
            tag: hex("76fc6ece0f4e1768cddf8853bb2d551b")),
    ]
}

@Suite struct AESGCMRules {
    @Test(arguments: GCMCase.published) func theBoxesArePublished(_ known: GCMCase) throws {
        let key = SecretBytes(copying: known.key)
        let text = SecretBytes(copying: known.plaintext)
        let box = try AESGCM.seal(text, key: key, nonce: known.nonce, aad: known.aad)
        #expect(box == known.nonce + known.ciphertext + known.tag)
        #expect(try AESGCM.open(box, key: key, aad: known.aad).array == known.plaintext)
    }

    @Test(arguments: GCMCase.published) func aBoxWithAnyBitChangedIsRefused(_ known: GCMCase) {
        let key = SecretBytes(copying: known.key)
        let box = known.nonce + known.ciphertext + known.tag
        for index in box.indices {
            for bit in 0..<8 {
                var changed = box
                changed[index] ^= 1 << bit
                #expect(refusal(changed, key, known.aad) == .authenticationFailed)
            }
        }
    }

    @Test(arguments: GCMCase.published) func anotherKeyOrContextIsRefused(_ known: GCMCase) {
        let box = known.nonce + known.ciphertext + known.tag
        let key = SecretBytes(copying: known.key)
        #expect(refusal(box, key, known.aad) == nil)
        #expect(refusal(box, key, known.aad + [0]) == .authenticationFailed)
        for index in known.aad.indices {
            var other = known.aad
            other[index] ^= 1
            #expect(refusal(box, key, other) == .authenticationFailed)
        }
        for index in known.key.indices {
            var other = known.key
            other[index] ^= 0x80
            let otherKey = SecretBytes(copying: other)
            #expect(refusal(box, otherKey, known.aad) == .authenticationFailed)
        }
    }

    @Test func aBoxWithBytesMissingOrAddedIsRefused() throws {
        let key = SecretBytes(copying: rising(1, 32))
        let box = try AESGCM.seal(
            secret(ascii: "wallet"), key: key, nonce: rising(0, 12), aad: [1])
        for count in 0..<box.count {
            let expected: CryptoError = count < 28 ? .invalidLength : .authenticationFailed
            #expect(refusal(Array(box[..<count]), key, [1]) == expected)
        }
        #expect(refusal(box + [0], key, [1]) == .authenticationFailed)
    }

    @Test(arguments: [0, 16, 31, 33]) func aKeyOfAnotherLengthIsRefused(count: Int) {
        let key = SecretBytes(count: count)
        #expect(refusal([UInt8](repeating: 0, count: 40), key, []) == .invalidLength)
        #expect(throws: CryptoError.invalidLength) {
            _ = try AESGCM.seal(SecretBytes(count: 1), key: key, nonce: rising(0, 12), aad: [])
        }
    }

    @Test(arguments: [0, 8, 11, 13, 16]) func aNonceOfAnotherLengthIsRefused(count: Int) {
        #expect(throws: CryptoError.invalidLength) {
            _ = try AESGCM.seal(
                SecretBytes(count: 1), key: SecretBytes(count: 32), nonce: rising(0, count), aad: []
            )
        }
    }

    @Test(arguments: [1, 15, 17, 4095, 70_000]) func everyLengthComesBack(count: Int) throws {
        let key = SecretBytes(copying: rising(9, 32))
        let text = [UInt8](repeating: 0x61, count: count)
        let box = try AESGCM.seal(
            SecretBytes(copying: text), key: key, nonce: rising(5, 12), aad: [UInt8](text))
        #expect(box.count == count + AESGCM.overheadBytes)
        #expect(try AESGCM.open(box, key: key, aad: text).array == text)
    }
}

private func refusal(
    _ box: [UInt8], _ key: borrowing SecretBytes, _ aad: [UInt8]
) -> CryptoError? {
    do throws(CryptoError) {
        _ = try AESGCM.open(box, key: key, aad: aad)
        return nil
    } catch {
        return error
    }
}
