import Crypto
import Secrets
import Testing

/// NIST SP 800-38A, F.2.5 and F.2.6.
@Suite struct AESCBCRules {
    static let key = "603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4"
    static let plaintext = """
        6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
        30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710
        """
    static let ciphertext = """
        f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d
        39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b
        """

    @Test func theBlocksArePublished() throws {
        let key = secret(Self.key)
        let iv = SecretBytes(copying: rising(0, 16))
        let encrypted = try AESCBC.encrypt(secret(Self.plaintext), key: key, iv: iv)
        #expect(encrypted == hex(Self.ciphertext))
        let decrypted = try AESCBC.decrypt(hex(Self.ciphertext), key: key, iv: iv)
        #expect(decrypted.array == hex(Self.plaintext))
        #expect(try AESCBC.encrypt(SecretBytes(count: 0), key: key, iv: iv) == [])
    }

    @Test(arguments: [(15, 32, 16), (17, 32, 16), (16, 16, 16), (16, 33, 16), (16, 32, 12)])
    func lengthsThatDoNotFitAreRefused(text: Int, key: Int, iv: Int) {
        let key = SecretBytes(count: key)
        let iv = SecretBytes(count: iv)
        #expect(throws: CryptoError.invalidLength) {
            _ = try AESCBC.encrypt(SecretBytes(count: text), key: key, iv: iv)
        }
        #expect(throws: CryptoError.invalidLength) {
            _ = try AESCBC.decrypt([UInt8](repeating: 0, count: text), key: key, iv: iv)
        }
    }
}
