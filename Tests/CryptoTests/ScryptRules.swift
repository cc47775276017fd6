import Crypto
import Secrets
import Testing

@Suite struct ScryptRules {
    /// RFC 7914, section 12.
    @Test(arguments: [
        (
            "password", "NaCl", Scrypt.Cost(rounds: 1_024, blockSize: 8, lanes: 16),
            """
            fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162
            2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
            """
        ),
        (
            "pleaseletmein", "SodiumChloride",
            Scrypt.Cost(rounds: 16_384, blockSize: 8, lanes: 1),
            """
            7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2
            d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887
            """
        ),
    ]) func givesThePublishedKeys(
        passphrase: String, salt: String, cost: Scrypt.Cost, key: String
    ) throws {
        let derived = try Scrypt.key(
            passphrase: secret(ascii: passphrase), salt: Array(salt.utf8), cost: cost, count: 64)
        #expect(derived.array == hex(key))
    }

    @Test(arguments: [
        Scrypt.Cost(rounds: 0, blockSize: 8, lanes: 1),
        Scrypt.Cost(rounds: 1, blockSize: 8, lanes: 1),
        Scrypt.Cost(rounds: 1_000, blockSize: 8, lanes: 1),
        Scrypt.Cost(rounds: 1_024, blockSize: 0, lanes: 1),
        Scrypt.Cost(rounds: 1_024, blockSize: 8, lanes: 0),
        Scrypt.Cost(rounds: 1 << 20, blockSize: 8, lanes: 1),
        Scrypt.Cost(rounds: .max, blockSize: .max, lanes: .max),
    ]) func refusesACostThatIsNoneOrTooHigh(cost: Scrypt.Cost) {
        #expect(throws: CryptoError.invalidParameters) {
            _ = try Scrypt.key(
                passphrase: secret(ascii: "a"), salt: [], cost: cost, count: 32)
        }
    }
}
