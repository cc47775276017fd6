import Crypto
import Secrets
import Testing

@Suite struct PBKDF2Rules {
    /// RFC 7914, section 11.
    @Test(arguments: [
        (
            "passwd", "salt", 1,
            """
            55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc
            49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783
            """
        ),
        (
            "Password", "NaCl", 80_000,
            """
            4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56
            a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d
            """
        ),
    ]) func sha256GivesThePublishedKeys(
        password: String, salt: String, iterations: Int, key: String
    ) throws {
        let derived = try PBKDF2.sha256(
            password: secret(ascii: password), salt: Array(salt.utf8), iterations: iterations,
            count: 64)
        #expect(derived.array == hex(key))
    }

    /// The first seed of the published BIP-39 vectors, and RFC 6070's inputs over SHA-512 as
    /// Python's `hashlib` derives them.
    @Test(arguments: [
        (
            String(repeating: "abandon ", count: 11) + "about", "mnemonicTREZOR", 2048,
            """
            c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e5349553
            1f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04
            """
        ),
        (
            "password", "salt", 1,
            """
            867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252
            c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce
            """
        ),
    ]) func sha512GivesThePublishedKeys(
        password: String, salt: String, iterations: Int, key: String
    ) throws {
        let password = secret(ascii: password)
        let withPublicSalt = try PBKDF2.sha512(
            password: password, salt: Array(salt.utf8), iterations: iterations, count: 64)
        #expect(withPublicSalt.array == hex(key))
        let withSecretSalt = try PBKDF2.sha512(
            password: password, salt: secret(ascii: salt), iterations: iterations, count: 64)
        #expect(withSecretSalt.array == hex(key))
    }

    @Test(arguments: [(0, 32), (-1, 32), (Int.max, 32), (1, 0), (1, -1)])
    func numbersOutOfRangeAreRefused(iterations: Int, count: Int) {
        #expect(throws: CryptoError.invalidParameters) {
            _ = try PBKDF2.sha256(
                password: SecretBytes(count: 8), salt: [1], iterations: iterations, count: count)
        }
        #expect(throws: CryptoError.invalidParameters) {
            _ = try PBKDF2.sha512(
                password: SecretBytes(count: 8), salt: [1], iterations: iterations, count: count)
        }
    }

    @Test func anEmptyPasswordAndSaltAreTaken() throws {
        let empty = SecretBytes(count: 0)
        let short = try PBKDF2.sha256(password: empty, salt: [], iterations: 1, count: 32)
        let block = HMAC.sha256(key: empty, message: [0, 0, 0, 1])
        #expect(short.array == block.array)
        let long = try PBKDF2.sha512(password: empty, salt: [], iterations: 1, count: 64)
        #expect(long.array == HMAC.sha512(key: empty, message: [0, 0, 0, 1]).array)
    }
}
