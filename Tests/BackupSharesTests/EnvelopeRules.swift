import Crypto
import Secrets
import TestKit
import Testing

@testable import BackupShares

@Suite struct EnvelopeRules {
    @Test(arguments: [Phrases.about, Phrases.yellow, Phrases.longest])
    func aSplitComesBackFromItsThreeHolders(_ phrase: String) throws {
        let split = try Split(phrase)
        #expect(split.envelopes.map(\.bytes.count) == [288, 288, 288])
        let joined = try ShareSplit.combine(split.payloads())
        #expect(try PhraseBlock.decode(joined).text == phrase)
    }

    @Test func everyShareHasAnEphemeralKeyOfItsOwn() throws {
        var keys: Set<[UInt8]> = []
        for _ in 0..<20 {
            let random = KernelRandom()
            let holders = try (0..<3).map { try KeyPair(number: UInt8($0)).publicKey }
            let envelopes = try ShareEnvelope.seal(
                block: block(of: "zoo"), to: holders, random: random)
            keys.formUnion(envelopes.map(\.ephemeralKey))
        }
        #expect(keys.count == 60)
    }

    /// The bit that tde2e ignores, the sign of the ephemeral key, is among them.
    @Test func everyChangedBitIsRefused() throws {
        let split = try Split()
        let holder = split.holders[1].privateKey
        let whole = split.envelopes[1].bytes
        #expect(try ReceivedEnvelope(whole).envelope.open(privateKey: holder.bytes).count == 220)
        for bit in 0..<whole.count * 8 {
            var changed = whole
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: ShareError.self, "bit \(bit)") {
                _ = try ReceivedEnvelope(changed).envelope.open(privateKey: holder.bytes)
            }
        }
    }

    /// Other writers' keys have either sign, and no mark; flipping it is nothing that tde2e sees.
    @Test(arguments: [false, true]) func foreignEnvelopesOfEitherSignAreRead(_ flips: Bool) throws {
        let bob = try KeyPair.bob.get()
        for number in UInt8(0)..<20 {
            let ephemeral = try KeyPair(number: number)
            let key = try MessageKey(
                privateKey: ephemeral.privateKey.bytes, publicKey: bob.publicKey)
            let message = try MessageBox.seal(
                secret("a payload"), key: key, random: KernelRandom())
            var publicKey = ephemeral.publicKey
            publicKey[31] ^= flips ? 0x80 : 0
            let envelope = try ShareEnvelope(ephemeralKey: publicKey, message: message)
            #expect(try envelope.open(privateKey: bob.privateKey.bytes).text == "a payload")
        }
    }

    @Test func anotherHolderReadsNothing() throws {
        let split = try Split()
        for place in 0..<3 {
            let other = split.holders[(place + 1) % 3].privateKey
            #expect(throws: ShareError.authenticationFailed) {
                _ = try split.envelopes[place].open(privateKey: other.bytes)
            }
        }
    }

    /// Vector C of the formats: the published pairs, known shares, zeros in the prefix.
    @Test func theKnownEnvelopesAreMade() throws {
        let alice = try KeyPair.alice.get()
        let bob = try KeyPair.bob.get()
        let key = try MessageKey(
            privateKey: alice.privateKey.bytes, publicKey: bob.publicKey)
        let given =
            (0..<215).map { UInt8(truncatingIfNeeded: 7 * $0 + 1) }
            + (0..<215).map { UInt8(truncatingIfNeeded: 11 * $0 + 3) }
        let payloads = try ShareSplit.split(
            block(of: Phrases.about), random: GivenRandom(given))
        let digests = try payloads.map { payload in
            let message = try MessageBox.seal(payload.bytes, key: key, fillingPrefix: { _ in })
            return hex(SHA256.digest(alice.publicKey + message))
        }
        #expect(
            digests == [
                "44b7a21dc6664801853eb112adb22a4f6eede15e20025fd645326eef48325d82",
                "4837ca444ea7c4809ad332e81b02ac0f4097932082a87a686c30932cd83853a4",
                "0b4d996ed2cdf8d54095f88ec04b6d89afa0faede735e68fbbcf93f4868cbb49",
            ])
    }

    @Test(arguments: [0, 1, 2, 4]) func aSplitHasThreeHolders(_ count: Int) throws {
        let holders = try (0..<count).map { try KeyPair(number: UInt8($0)).publicKey }
        #expect(throws: ShareError.wrongCount(count)) {
            _ = try ShareEnvelope.seal(
                block: block(of: "zoo"), to: holders, random: KernelRandom())
        }
    }

    @Test(arguments: [0, 0x80] as [UInt8])
    func oneHolderDoesNotGetTwoShares(_ sign: UInt8) throws {
        var holders = try (0..<3).map { try KeyPair(number: UInt8($0)).publicKey }
        holders[2] = holders[0]
        holders[2][31] ^= sign
        #expect(throws: ShareError.repeatedHolder) {
            _ = try ShareEnvelope.seal(
                block: block(of: "zoo"), to: holders, random: KernelRandom())
        }
    }

    @Test func aHolderWithoutAKeyGetsNothing() throws {
        var holders = try (0..<3).map { try KeyPair(number: UInt8($0)).publicKey }
        for key in [[], [UInt8](repeating: 2, count: 31), [1] + [UInt8](repeating: 0, count: 31)] {
            holders[1] = key
            #expect(throws: ShareError.invalidKey) {
                _ = try ShareEnvelope.seal(
                    block: block(of: "zoo"), to: holders, random: KernelRandom())
            }
        }
    }

    @Test func aSourceThatRepeatsItselfIsNoticed() throws {
        let holders = try (0..<3).map { try KeyPair(number: UInt8($0)).publicKey }
        #expect(throws: ShareError.failed) {
            _ = try ShareEnvelope.seal(
                block: block(of: "zoo"), to: holders, random: ConstantRandom())
        }
    }

    @Test(arguments: [0, 31, 32, 33, 47, 287, 289]) func anOddLengthIsRefused(_ count: Int) {
        #expect(throws: ShareError.malformed) {
            _ = try ShareEnvelope([UInt8](repeating: 3, count: count))
        }
    }

    @Test func aKeyOfLowOrderIsRefused() throws {
        let bob = try KeyPair.bob.get()
        for first in [0, 1] as [UInt8] {
            let bytes = [first] + [UInt8](repeating: 0, count: 287)
            #expect(throws: ShareError.invalidKey) {
                _ = try ShareEnvelope(bytes).open(privateKey: bob.privateKey.bytes)
            }
        }
    }
}

private struct ConstantRandom: RandomSource {
    func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        buffer.initializeMemory(as: UInt8.self, repeating: 0x44)
    }
}
