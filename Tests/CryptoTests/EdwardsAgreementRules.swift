import Crypto
import Secrets
import Testing

@Suite struct EdwardsAgreementRules {
    /// The two maps are defined apart and must meet: over the seed and over the public key.
    @Test(arguments: UInt8(0)..<40) func theScalarFitsTheCoordinate(number: UInt8) throws {
        let seed = SecretBytes(copying: SHA256.digest([number]))
        let ofScalar = try X25519.publicKey(EdwardsAgreement.scalar(seed: seed))
        let publicKey = try Ed25519.publicKey(seed: seed)
        #expect(try EdwardsAgreement.coordinate(publicKey: publicKey) == ofScalar)
        var otherSign = publicKey
        otherSign[31] ^= 0x80
        #expect(try EdwardsAgreement.coordinate(publicKey: otherSign) == ofScalar)
    }

    @Test(arguments: UInt8(0)..<8) func twoSignersShareASecret(number: UInt8) throws {
        let first = SecretBytes(copying: SHA256.digest([number, 1]))
        let second = SecretBytes(copying: SHA256.digest([number, 2]))
        let ofFirst = try EdwardsAgreement.coordinate(publicKey: Ed25519.publicKey(seed: first))
        let ofSecond = try EdwardsAgreement.coordinate(publicKey: Ed25519.publicKey(seed: second))
        let one = try X25519.sharedSecret(EdwardsAgreement.scalar(seed: first), with: ofSecond)
        let other = try X25519.sharedSecret(EdwardsAgreement.scalar(seed: second), with: ofFirst)
        #expect(one.array == other.array)
    }

    @Test func aScalarIsClamped() throws {
        let scalar = try EdwardsAgreement.scalar(seed: SecretBytes(copying: rising(0, 32))).array
        #expect(scalar[0] & 7 == 0)
        #expect(scalar[31] & 0xc0 == 0x40)
    }

    /// Worked out by hand: `y = 2` gives −3, `y = −1` gives 0, `y = p + 2` is `y = 2`.
    @Test(arguments: [
        (
            "0200000000000000000000000000000000000000000000000000000000000000",
            "eaffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
        ),
        (
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0000000000000000000000000000000000000000000000000000000000000000"
        ),
        (
            "efffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "eaffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
        ),
        (
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000"
        ),
    ]) func anyThirtyTwoBytesServe(key: String, coordinate: String) throws {
        #expect(try EdwardsAgreement.coordinate(publicKey: hex(key)) == hex(coordinate))
    }

    @Test(arguments: [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ]) func theNeutralElementIsRefused(key: String) {
        #expect(throws: CryptoError.lowOrderPoint) {
            _ = try EdwardsAgreement.coordinate(publicKey: hex(key))
        }
    }

    @Test(arguments: [0, 31, 33]) func anotherLengthIsRefused(count: Int) {
        #expect(throws: CryptoError.invalidLength) {
            _ = try EdwardsAgreement.coordinate(publicKey: rising(0, count))
        }
        #expect(throws: CryptoError.invalidLength) {
            _ = try EdwardsAgreement.scalar(seed: SecretBytes(count: count))
        }
    }
}
