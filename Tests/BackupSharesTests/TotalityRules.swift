import BackupShares
import Secrets
import TestKit
import Testing

/// Whatever bytes come, a decoder answers with a value or one of its errors.
@Suite struct TotalityRules {
    static let rounds = 100_000

    @Test func anyBytesMayBeAPhraseBlock() throws {
        let random = SeededRandom(seed: 11)
        let canonical = try block(of: Phrases.about).array
        var decoded = 0
        for round in 0..<Self.rounds {
            var bytes = canonical
            if round % 2 == 0 {
                bytes = random.bytes(random.number(in: 0...230))
            } else {
                change(&bytes, random)
            }
            if let phrase = try? PhraseBlock.decode(secret(bytes)) {
                decoded += 1
                #expect(try PhraseBlock.encode(phrase).array == bytes)
            }
        }
        #expect(decoded > 0)
    }

    @Test func anyBytesMayBeAPhrase() throws {
        let random = SeededRandom(seed: 12)
        let pieces: [[UInt8]] = [
            [0x20], [0x61], [0x5A], [0xC3, 0x89], [0xE3, 0x80, 0x80], [0xF0, 0x9E, 0xA4, 0x80],
            [0xC4, 0xB0], [0xFF], [0x0A], [0xCC, 0x81],
        ]
        var encoded = 0
        for _ in 0..<Self.rounds {
            let text = (0..<random.number(in: 0...8)).flatMap { _ in
                random.chance(percent: 95) ? random.pick(pieces) ?? [] : random.bytes(3)
            }
            guard let block = try? PhraseBlock.encode(secret(text)) else { continue }
            encoded += 1
            let phrase = try PhraseBlock.decode(block)
            let expected = String(decoding: text, as: UTF8.self).unicodeScalars
                .split(whereSeparator: \.properties.isWhitespace)
                .map { String($0).lowercased() }.joined(separator: " ")
            #expect(phrase.array == Array(expected.utf8))
        }
        #expect(encoded > Self.rounds / 10)
    }

    @Test func anyBytesMayBePayloads() throws {
        let random = SeededRandom(seed: 13)
        let whole = try ShareSplit.split(block(of: "zoo"), random: random).map(\.array)
        var combined = 0
        for round in 0..<Self.rounds {
            let payloads = (0..<3).map { place in
                var bytes = whole[place]
                switch round % 3 {
                case 0: bytes = random.bytes(random.number(in: 0...12))
                case 1: bytes = KeyPart.encode(random.bytes(random.number(in: 0...2)))
                default: change(&bytes, random)
                }
                return shared(bytes)
            }
            if let text = try? ShareSplit.combine(payloads) {
                combined += 1
                #expect(text.count > 0 && text.count < payloads[0].bytes.count)
            }
        }
        #expect(combined > 0)
    }

    @Test func noRandomBytesAreAMessage() throws {
        let random = SeededRandom(seed: 14)
        let key = try MessageKey(random.secret(32))
        for _ in 0..<Self.rounds {
            let blocks = random.number(in: 0...6)
            let odd = random.chance(percent: 20) ? random.number(in: 1...15) : 0
            let message = random.bytes(blocks * 16 + odd)
            let header = random.bytes(random.chance(percent: 90) ? 32 : 31)
            #expect((try? MessageBox.open(message, key: key)) == nil)
            #expect((try? MessageBox.open(message, header: header, key: key)) == nil)
        }
    }

    @Test func noRandomBytesAreAnEnvelope() throws {
        let random = SeededRandom(seed: 15)
        let bob = try KeyPair.bob.get()
        let whole = Wrapper.encode(try Split().envelopes[0], index: 0)
        var parsed = 0
        for round in 0..<Self.rounds {
            var bytes = whole
            if round % 2 == 0 {
                bytes = random.bytes(random.number(in: 0...400))
            } else {
                change(&bytes, random)
            }
            guard let received = try? ReceivedEnvelope(bytes) else { continue }
            parsed += 1
            guard parsed % 16 == 0 else { continue }
            #expect((try? received.envelope.open(privateKey: bob.privateKey.bytes)) == nil)
        }
        #expect(parsed > Self.rounds / 10)
    }

    /// Sets, removes or adds a byte, once or more.
    private func change(_ bytes: inout [UInt8], _ random: SeededRandom) {
        repeat {
            let place = random.number(in: 0...(bytes.count - 1))
            switch random.number(in: 0...5) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(random.bytes(1)[0], at: place)
            default: bytes[place] = random.bytes(1)[0]
            }
        } while random.chance(percent: 30) && bytes.count > 1
    }
}
