import Crypto
import Secrets
import Testing

/// RFC 7748, sections 5.2 and 6.1.
@Suite struct X25519Rules {
    @Test(arguments: [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
        ),
    ]) func theProductsArePublished(scalar: String, coordinate: String, product: String) throws {
        let shared = try X25519.sharedSecret(secret(scalar), with: hex(coordinate))
        #expect(shared.array == hex(product))
    }

    @Test(arguments: [
        (1, "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"),
        (1000, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"),
    ]) func theIteratedProductsArePublished(rounds: Int, product: String) throws {
        var scalar = [9] + [UInt8](repeating: 0, count: 31)
        var coordinate = scalar
        for _ in 0..<rounds {
            let shared = try X25519.sharedSecret(
                SecretBytes(copying: scalar), with: coordinate)
            coordinate = scalar
            scalar = shared.array
        }
        #expect(scalar == hex(product))
    }

    @Test func bothSidesAgree() throws {
        let alice = secret("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
        let bob = secret("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
        let ofAlice = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
        let ofBob = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
        let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        #expect(try X25519.publicKey(alice) == hex(ofAlice))
        #expect(try X25519.publicKey(bob) == hex(ofBob))
        #expect(try X25519.sharedSecret(alice, with: hex(ofBob)).array == shared)
        #expect(try X25519.sharedSecret(bob, with: hex(ofAlice)).array == shared)
    }

    /// The coordinates whose points have a small order, from curve25519's own page.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ]) func aPointOfSmallOrderIsRefused(coordinate: String) {
        #expect(throws: CryptoError.lowOrderPoint) {
            _ = try X25519.sharedSecret(SecretBytes(copying: rising(1, 32)), with: hex(coordinate))
        }
    }

    @Test(arguments: [0, 31, 33]) func anotherLengthIsRefused(count: Int) {
        #expect(throws: CryptoError.invalidLength) {
            _ = try X25519.sharedSecret(SecretBytes(count: count), with: rising(9, 32))
        }
        #expect(throws: CryptoError.invalidLength) {
            _ = try X25519.sharedSecret(SecretBytes(copying: rising(0, 32)), with: rising(9, count))
        }
        #expect(throws: CryptoError.invalidLength) {
            _ = try X25519.publicKey(SecretBytes(count: count))
        }
    }
}
