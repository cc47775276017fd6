import BackupShares
import Crypto
import Secrets

extension FuzzTarget {
    /// The first byte says what the others are.
    static let shareEnvelope = FuzzTarget(
        name: "share-envelope",
        seeds: {
            let payload = [0x08, 0xdd, 0x90, 0x8b, 0xd7] + [UInt8](repeating: 0x61, count: 215)
            let prefix = [20] + [UInt8](repeating: 1, count: 19)
            let bare = ForgedMessage.ephemeralKey + ForgedMessage.sealing(prefix + payload)
            let word = "abandon about " + String(repeating: " ", count: 201)
            return [
                [0] + bare, [0] + wrapped(bare, index: 0), [0] + wrapped(bare, index: 2),
                [1] + prefix + payload, [1, 16], [2] + bare + wrapped(bare, index: 1) + bare,
                [2] + wrapped(bare, index: 0) + wrapped(bare, index: 1) + wrapped(bare, index: 2),
                [2] + set(of: bare),
                [2] + set(of: Array(bare.prefix(80))) { wrapped($0, index: $1) },
                [2] + set(of: bare) { wrapped($0, index: 2 - $1) },
                [2] + set(of: bare) { wrapped($0, index: $1 / 2) },
                [0] + wrapped(Array(bare.prefix(64)), index: 1), [0] + wrapped(bare, index: 3),
                [3] + payload + payload + payload, [3] + keyPart(3) + keyPart(3) + keyPart(3),
                [3] + keyPart(0) + keyPart(0) + keyPart(0), [4] + word.utf8, [4] + [UInt8](0..<215),
                [4] + "Abandon About".utf8 + [UInt8](repeating: 0x20, count: 202),
                [5, 0] + "About  Abandon\n".utf8, [5, 0] + [0x61, 0xFF], [5, 0] + [0x61, 0x01],
                [5, 40] + "About  Abandon\n".utf8, [5, 255] + [UInt8](repeating: 0x20, count: 80),
                [0], [1], [2], [3], [4], [5],
            ]
        },
        run: { input in
            guard let mode = input.first else { return }
            let rest = Array(input.dropFirst())
            switch mode {
            case 0: read(rest)
            case 1: openForgedEnvelope(rest)
            case 2: order(rest)
            case 3: combine(rest)
            case 4: decodeBlock(rest)
            default: encodeBlock(rest)
            }
        })

    /// The wrapper of an earlier writer.
    private static func wrapped(_ envelope: [UInt8], index: UInt8) -> [UInt8] {
        let count =
            envelope.count < 254
            ? [UInt8(envelope.count)]
            : [254, UInt8(envelope.count & 0xFF), UInt8(envelope.count >> 8), 0]
        let padding = [UInt8](repeating: 0, count: (4 - (count.count + envelope.count) % 4) % 4)
        return [0x58, 0x71, 0xa8, 0x1e, index, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3, 4] + count + envelope
            + padding
    }

    /// A payload of the earliest writer, with a text of less than 254 bytes.
    private static func keyPart(_ count: UInt8) -> [UInt8] {
        let text = [count] + [UInt8](repeating: 0x61, count: Int(count))
        return [0x08, 0xdd, 0x90, 0x8b] + text
            + [UInt8](repeating: 0, count: (4 - text.count % 4) % 4)
    }

    /// Three envelopes with ephemeral keys of their own.
    private static func set(
        of envelope: [UInt8], as written: ([UInt8], UInt8) -> [UInt8] = { envelope, _ in envelope }
    ) -> [UInt8] {
        (0..<3).flatMap { place in
            var other = envelope
            other[0] ^= UInt8(place)
            return written(other, UInt8(place))
        }
    }

    /// What is read gives the same envelope again, and none opens that was not sealed for the key.
    private static func read(_ bytes: [UInt8]) {
        guard let received = try? ReceivedEnvelope(bytes) else { return }
        let envelope = received.envelope
        promise(bytes.count >= envelope.bytes.count)
        promise(received.place != nil || envelope.bytes == bytes)
        plantedTrap(received.place?.index == 1)
        let seed = SecretBytes(copying: ForgedMessage.seed)
        if let again = try? ReceivedEnvelope(envelope.bytes), again.place == nil {
            promise(again.envelope == envelope)
        }
        _ = try? envelope.open(privateKey: seed)
    }

    private static func openForgedEnvelope(_ bytes: [UInt8]) {
        let plaintext = ForgedMessage.blocks(Array(bytes.prefix(1_024)))
        let message = ForgedMessage.sealing(plaintext)
        let envelope = must {
            try ShareEnvelope(ephemeralKey: ForgedMessage.ephemeralKey, message: message)
        }
        let seed = SecretBytes(copying: ForgedMessage.seed)
        let prefixBytes = Int(plaintext[0])
        let isInForm = 16...plaintext.count ~= prefixBytes
        do throws(ShareError) {
            let payload = try envelope.open(privateKey: seed)
            promise(isInForm)
            promise(payload.withBytes { $0.elementsEqual(plaintext[prefixBytes...]) })
        } catch {
            promise(!isInForm && error == .malformed)
        }
    }

    private static func order(_ bytes: [UInt8]) {
        let third = bytes.count / 3
        let parts = (0..<3).map { Array(bytes[$0 * third..<($0 + 1) * third]) }
        // Three of one length, and as many as a count in front says.
        let received = (0..<3).compactMap { try? ReceivedEnvelope(parts[$0]) }
        guard let ordered = try? ReceivedEnvelope.inOrder(received) else { return }
        promise(ordered.count == 3)
        let indices = ordered.compactMap(\.place?.index)
        promise(indices.isEmpty || indices == [0, 1, 2])
    }

    /// The last of the three takes what is left over, and is then of another length.
    private static func combine(_ bytes: [UInt8]) {
        let third = bytes.count / 3
        let payloads = (0..<3).map { place in
            let end = place == 2 ? bytes.count : (place + 1) * third
            return SharedSecret(SecretBytes(copying: Array(bytes[place * third..<end])))
        }
        guard let block = try? ShareSplit.combine(payloads) else { return }
        _ = try? PhraseBlock.decode(block)
    }

    /// A block that is read is the one form of its phrase.
    private static func decodeBlock(_ bytes: [UInt8]) {
        let block = SecretBytes(copying: bytes)
        guard let phrase = try? PhraseBlock.decode(block) else { return }
        guard let again = try? PhraseBlock.encode(phrase) else {
            fatalError("a phrase that was read has no block")
        }
        promise(again.isEqual(to: block))
    }

    /// The first byte says how often the others are repeated, for texts longer than any input.
    private static func encodeBlock(_ bytes: [UInt8]) {
        let once = Array(bytes.dropFirst())
        let copies = Int(bytes.first ?? 0) + 1
        let text = SecretBytes(copying: Array((0..<copies).map { _ in once }.joined()))
        guard let block = try? PhraseBlock.encode(text) else { return }
        guard (try? PhraseBlock.decode(block)) != nil else {
            fatalError("a block that was written cannot be read")
        }
    }
}
