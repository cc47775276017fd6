import Crypto
import Secrets
import Testing

/// SEC 2, section 2.4.2, and SP 800-56A, section 6.2.
@Suite struct P256AgreementRules {
    private static let x = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    private static let y = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
    /// The generator is the public key of the private key 1: what is agreed is the fresh point.
    private static let generator = hex("04" + x + y)

    @Test func whatIsAgreedIsTheCommonPoint() throws {
        let agreed = try P256Agreement.agree(with: Self.generator)
        let (point, secret) = (agreed.point, agreed.secret.array)
        #expect(point.count == P256Agreement.pointBytes && point[0] == 4)
        #expect(secret == Array(point[1...32]))
    }

    @Test func everyAgreementHasAKeyOfItsOwn() throws {
        let one = try P256Agreement.agree(with: Self.generator).point
        let other = try P256Agreement.agree(with: Self.generator).point
        #expect(one != other)
    }

    @Test func whatIsNoPointIsRefused() {
        var moved = Self.generator
        moved[64] ^= 1
        var compressed = Self.generator
        compressed[0] = 2
        for point in [moved, compressed, [UInt8](repeating: 0, count: 65)] {
            #expect(throws: CryptoError.failed) { try agree(point) }
        }
        for count in [0, 1, 33, 64, 66] {
            #expect(throws: CryptoError.invalidLength) {
                try agree(Array((Self.generator + [0]).prefix(count)))
            }
        }
    }

    private func agree(_ point: [UInt8]) throws(CryptoError) {
        _ = try P256Agreement.agree(with: point)
    }
}
