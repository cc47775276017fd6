import Crypto
import Secrets
import TestKit
import Testing

@testable import BackupShares

@Suite struct ShareSplitRules {
    static let prefix = bytes("08dd908bd7")

    @Test(arguments: [Phrases.about, Phrases.longest])
    func threePayloadsGiveTheBlockBackInAnyOrder(_ phrase: String) throws {
        let block = try block(of: phrase)
        let payloads = try ShareSplit.split(block, random: KernelRandom())
        #expect(payloads.map(\.array.count) == [220, 220, 220])
        #expect(payloads.allSatisfy { $0.array.starts(with: Self.prefix) })
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let joined = try ShareSplit.combine(order.map { payloads[$0] })
            #expect(joined.array == block.array)
        }
    }

    @Test func twoSharesAreTheRandomBytesAndTheThirdIsTheRest() throws {
        let given = (0..<430).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
        let block = try block(of: Phrases.about)
        let source = GivenRandom(given)
        let payloads = try ShareSplit.split(block, random: source).map(\.array)
        #expect(payloads[0] == Self.prefix + given[..<215])
        #expect(payloads[1] == Self.prefix + given[215...])
        let rest = xor(xor(Array(given[..<215]), Array(given[215...])), block.array)
        #expect(payloads[2] == Self.prefix + rest)
        #expect(source.isExhausted)
    }

    @Test func whatCouldNotBeReadAgainIsNotSplit() {
        for text in [[], [UInt8](repeating: 0x41, count: 215), Array("zoo".utf8)] {
            #expect(throws: ShareError.notCanonical) {
                _ = try ShareSplit.split(secret(text), random: KernelRandom())
            }
        }
    }

    @Test func sharesOfAnInterimWriterAreRead() throws {
        let block = try block(of: Phrases.yellow).array
        let shares = ShareSplit.shares(of: secret(Self.prefix + block), random: KernelRandom())
        #expect(shares.contains { !$0.array.starts(with: Self.prefix) })
        #expect(try ShareSplit.combine(shares).array == block)
    }

    /// 212 to 214 also make payloads of 220 bytes; 254 is the first long form.
    @Test(arguments: [1, 2, 3, 4, 60, 211, 212, 213, 214, 215, 216, 253, 254, 255, 300, 5_000])
    func keyPartsOfAnyLengthAreRead(_ count: Int) throws {
        let text = (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        let parts = ShareSplit.shares(of: secret(text), random: KernelRandom()).map {
            shared(KeyPart.encode($0.array))
        }
        #expect(parts[0].bytes.count % 4 == 0)
        #expect(try ShareSplit.combine(parts).array == text)
    }

    @Test(arguments: KeyPart.damaged) func aKeyPartHasOneForm(_ damaged: KeyPart.Damaged) throws {
        let parts = [damaged.bytes, damaged.bytes, damaged.bytes].map { shared($0) }
        #expect(throws: ShareError.payloadsDoNotFit) { _ = try ShareSplit.combine(parts) }
    }

    /// The XOR of three alone would look right: what two have too much cancels out.
    @Test func everyKeyPartIsCheckedByItself() throws {
        let whole = shared(KeyPart.encode([1, 2, 3, 4, 5]))
        var padded = whole.array
        padded[padded.count - 1] = 9
        let parts = [whole, shared(padded), shared(padded)]
        #expect(throws: ShareError.payloadsDoNotFit) { _ = try ShareSplit.combine(parts) }
        #expect(try ShareSplit.combine([whole, whole, whole]).array == [1, 2, 3, 4, 5])
    }

    @Test(arguments: [0, 1, 2, 4]) func threeArePartOfEverySplit(_ count: Int) throws {
        let payloads = try ShareSplit.split(block(of: "zoo"), random: KernelRandom())
        let given = (0..<count).map { payloads[$0 % 3] }
        #expect(throws: ShareError.wrongCount(count)) { _ = try ShareSplit.combine(given) }
    }

    @Test func payloadsOfUnlikeFormsDoNotFit() throws {
        let block = try block(of: Phrases.about)
        let current = try ShareSplit.split(block, random: KernelRandom())
        let interim = ShareSplit.shares(
            of: secret(Self.prefix + block.array), random: KernelRandom())
        let bare = current.map { shared(Array($0.array[5...])) }
        let short = shared(Array(current[2].array[..<219]))
        let other = shared([0x09] + current[2].array[1...])
        for unlike in [
            [current[0], interim[1], interim[2]], bare, [current[0], current[1], short],
            [current[0], current[1], bare[2]], [current[0], current[1], other],
            [other, other, other], [short, short, short], [shared([]), shared([]), shared([])],
        ] {
            #expect(throws: ShareError.payloadsDoNotFit) { _ = try ShareSplit.combine(unlike) }
        }
    }

    /// The prefix survives, the phrase does not.
    @Test(arguments: [0, 1, 2]) func aShareOfAnotherSplitSpoilsTheBlock(_ place: Int) throws {
        let block = try block(of: Phrases.about)
        var mixed = try ShareSplit.split(block, random: KernelRandom())
        mixed[place] = try ShareSplit.split(block, random: KernelRandom())[place]
        let joined = try ShareSplit.combine(mixed)
        #expect(throws: ShareError.notCanonical) { _ = try PhraseBlock.decode(joined) }
    }

    @Test func oneShareThreeTimesSpoilsTheBlock() throws {
        let payload = try ShareSplit.split(block(of: "zoo"), random: KernelRandom())[0]
        let joined = try ShareSplit.combine([payload, payload, payload])
        #expect(throws: ShareError.notCanonical) { _ = try PhraseBlock.decode(joined) }
    }
}

/// The key part of the first writers, as their documents were.
enum KeyPart {
    struct Damaged: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var testDescription: String { name }
    }

    static func encode(_ text: [UInt8]) -> [UInt8] { bytes("08dd908b") + byteString(text) }

    static func byteString(_ text: [UInt8]) -> [UInt8] {
        let count = text.count
        let head = count < 254 ? [UInt8(count)] : longHead(count)
        let body = head + text
        return body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
    }

    static func longHead(_ count: Int) -> [UInt8] {
        [254, UInt8(count & 255), UInt8(count >> 8 & 255), UInt8(count >> 16 & 255)]
    }

    static let damaged: [Damaged] = [
        Damaged(name: "no text", bytes: encode([])),
        Damaged(name: "another constructor", bytes: bytes("09dd908b0361626300")),
        Damaged(name: "constructor alone", bytes: bytes("08dd908b")),
        Damaged(name: "cut short", bytes: Array(encode([1, 2, 3]).dropLast())),
        Damaged(name: "a byte more", bytes: encode([1, 2, 3]) + [0]),
        Damaged(name: "a word more", bytes: encode([1, 2, 3]) + [0, 0, 0, 0]),
        Damaged(name: "padding that is not zero", bytes: bytes("08dd908b0261620500000000")),
        Damaged(name: "no padding", bytes: bytes("08dd908b026162")),
        Damaged(
            name: "long form of a short text",
            bytes: bytes("08dd908b") + longHead(4) + [1, 2, 3, 4]),
        Damaged(
            name: "a reserved length",
            bytes: bytes("08dd908bff") + [UInt8](repeating: 1, count: 255)),
        Damaged(
            name: "long form that says too much",
            bytes: bytes("08dd908b") + longHead(257) + [UInt8](repeating: 1, count: 256)),
        Damaged(name: "half a long head", bytes: bytes("08dd908bfe0001")),
    ]
}
