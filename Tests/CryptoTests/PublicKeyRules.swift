import Crypto
import Secrets
import Testing

/// What can be somebody's Ed25519 public key.
@Suite struct PublicKeyRules {
    @Test(arguments: SigningCase.published) func publishedKeysAreKeys(_ known: SigningCase) {
        #expect(Ed25519.isPublicKey(hex(known.publicKey)))
    }

    @Test(arguments: UInt8(0)..<50) func theKeyOfASeedIsOne(number: UInt8) throws {
        let seed = SecretBytes(copying: [UInt8](repeating: number, count: 32))
        #expect(Ed25519.isPublicKey(try Ed25519.publicKey(seed: seed)))
    }

    /// Points of order 1, 2, 4 and 8, with which everybody agrees on the same secret, and the same
    /// written with a number beyond the modulus.
    @Test(arguments: [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func aPointOfSmallOrderIsNone(_ point: String) { #expect(!Ed25519.isPublicKey(hex(point))) }

    /// `y = 2` is on no point of the curve.
    @Test func whatIsNoPointIsNone() {
        #expect(!Ed25519.isPublicKey([2] + [UInt8](repeating: 0, count: 31)))
    }

    @Test(arguments: [0, 31, 33]) func anotherLengthIsNone(count: Int) {
        #expect(!Ed25519.isPublicKey([UInt8](repeating: 9, count: count)))
    }

    /// One in sixteen mistyped keys is somebody's.
    @Test func mostBytesAreNone() {
        let keys = (0..<4_000).count { _ in Ed25519.isPublicKey(KernelRandom().bytes(32)) }
        #expect(150..<350 ~= keys)
    }
}
