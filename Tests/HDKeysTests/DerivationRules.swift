import Secrets
import Testing

@testable import HDKeys

@Suite struct DerivationRules {
    @Test(arguments: PublishedKey.secp256k1)
    func thePublishedKeysOfSecp256k1Hold(_ wanted: PublishedKey) throws {
        let key = try BIP32.derive(
            seed: secret(hex: wanted.seed), path: DerivationPath(wanted.path))
        #expect(hex(key.privateKey) == wanted.privateKey)
        #expect(hex(key.chainCode) == wanted.chainCode)
        #expect(try hex(key.publicKey()) == wanted.publicKey)
        #expect(key.xprv().withBytes { String(decoding: $0, as: UTF8.self) } == wanted.xprv)
        #expect(try key.xpub() == wanted.xpub)
    }

    @Test(arguments: PublishedKey.ed25519)
    func thePublishedKeysOfEd25519Hold(_ wanted: PublishedKey) throws {
        let key = try SLIP10Ed25519.derive(
            seed: secret(hex: wanted.seed), path: DerivationPath(wanted.path))
        #expect(hex(key.privateKey) == wanted.privateKey)
        #expect(hex(key.chainCode) == wanted.chainCode)
        #expect(try hex(key.publicKey()) == wanted.publicKey)
    }

    @Test func theMasterPublicKeyNamesAWallet() throws {
        let wanted = PublishedKey.secp256k1[0]
        #expect(wanted.path == "m")
        #expect(
            try hex(BIP32.masterPublicKey(seed: secret(hex: wanted.seed))) == wanted.publicKey)
    }

    @Test(arguments: [0, 1, 15, 65, 128]) func aSeedHas16To64Bytes(_ count: Int) throws {
        #expect(throws: HDKeyError.invalidSeed) {
            _ = try BIP32.masterPublicKey(seed: SecretBytes(count: count))
        }
        #expect(throws: HDKeyError.invalidSeed) {
            let path = try DerivationPath("m")
            _ = try SLIP10Ed25519.derive(seed: SecretBytes(count: count), path: path).publicKey()
        }
    }

    @Test(arguments: ["m/0", "m/44'/607'/0", "m/44/607'/0'"])
    func ed25519HasNoPlainChildren(_ path: String) {
        #expect(throws: HDKeyError.notHardened) {
            let path = try DerivationPath(path)
            _ = try SLIP10Ed25519.derive(seed: SecretBytes(count: 16), path: path).publicKey()
        }
    }

    /// What BIP-32 calls an invalid child: I_L not below the order, or a key of zero.
    @Test func aTweakThatGivesNoKeyIsAnErrorAndNotAWrongKey() throws {
        let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
        let orderLessOne = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140"
        let one = String(repeating: "0", count: 63) + "1"
        for (key, tweak) in [(one, order), (one, orderLessOne), (orderLessOne, one), (one, "")] {
            #expect(throws: HDKeyError.invalidKey) {
                _ = try Secp256k1.sum(of: secret(hex: key), tweak: secret(hex: tweak)).count
            }
        }
        let two = try Secp256k1.sum(of: secret(hex: one), tweak: secret(hex: one))
        #expect(hex(two) == String(repeating: "0", count: 63) + "2")
    }

    @Test func aKeyIsDerivedTheSameInOneWayOrInSteps() throws {
        let seed = secret(hex: PublishedKey.secp256k1[0].seed)
        let straight = try BIP32.derive(seed: seed, path: DerivationPath("m/44'/0'/1"))
        let account = try BIP32.derive(seed: seed, path: DerivationPath("m/44'/0'"))
        let stepped = try account.child(1)
        let isSame = straight.xprv().isEqual(to: stepped.xprv())
        #expect(isSame)
    }
}

@Suite struct TextFormRules {
    @Test(arguments: [
        (PayToKeyHash.Network.bitcoin, "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH"),
        (.bitcoinTest, "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"),
    ])
    func theAddressOfTheKeyOneIsTheKnownOne(_ network: PayToKeyHash.Network, _ address: String) {
        let point = bytes("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
        #expect(PayToKeyHash.address(ofPublicKey: point, on: network) == address)
    }

    /// Payloads and texts from the definition: base 58 of payload and checksum.
    @Test(arguments: [
        ("", "3QJmnh"), ("00", "1Wh4bh"), ("0000", "112edB6q"), ("ff", "VrZDWwe"),
    ])
    func shortPayloadsAndLeadingZerosKeepTheirLength(_ payload: String, _ text: String) {
        #expect(Base58Check.text(of: bytes(payload)) == text)
    }
}
