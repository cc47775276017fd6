import BackupShares
import Secrets
import Testing

/// The wrapper of an earlier writer: what it says about place and set is believed only where it is
/// whole and the three agree.
@Suite struct WrapperRules {
    @Test(arguments: [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]])
    func wrappedEnvelopesComeInTheOrderOfTheirIndices(_ order: [Int]) throws {
        let split = try Split(Phrases.yellow)
        let received = try order.map { index in
            try ReceivedEnvelope(Wrapper.encode(split.envelopes[index], index: index))
        }
        let ordered = try ReceivedEnvelope.inOrder(received)
        #expect(ordered.map(\.envelope) == split.envelopes)
        #expect(ordered.compactMap { $0.place?.index } == [0, 1, 2])
        #expect(ordered.allSatisfy { $0.place?.setID == 7 })
    }

    @Test func bareEnvelopesStayInTheirOrder() throws {
        let split = try Split()
        let received = try split.envelopes.reversed().map { try ReceivedEnvelope($0.bytes) }
        #expect(try ReceivedEnvelope.inOrder(received) == received)
        #expect(received.allSatisfy { $0.place == nil })
    }

    @Test func aWrappedEnvelopeHas308Bytes() throws {
        #expect(Wrapper.encode(try Split().envelopes[0], index: 0).count == 308)
    }

    /// Indices and sets; nil is a bare envelope.
    @Test(
        arguments: [
            [(0, 7), (1, 7), (1, 7)], [(2, 7), (2, 7), (2, 7)], [(0, 7), (1, 7), (2, 8)],
            [(0, 9), (1, 7), (2, 7)], [(0, 7), (1, 7), nil], [nil, nil, (2, 7)],
            [nil, (0, 7), nil],
        ] as [[(Int, UInt32)?]])
    func whatIsNotOneSetIsRefused(_ places: [(Int, UInt32)?]) throws {
        let split = try Split()
        let received = try zip(places, split.envelopes).map { place, envelope in
            try ReceivedEnvelope(
                place.map { Wrapper.encode(envelope, index: $0.0, setID: $0.1) }
                    ?? envelope.bytes)
        }
        #expect(throws: ShareError.notOneSet) { _ = try ReceivedEnvelope.inOrder(received) }
    }

    @Test func oneEnvelopeTwiceIsRefused() throws {
        let bare = try Split().envelopes.map { try ReceivedEnvelope($0.bytes) }
        #expect(throws: ShareError.notOneSet) {
            _ = try ReceivedEnvelope.inOrder([bare[0], bare[1], bare[0]])
        }
    }

    @Test(arguments: [0, 1, 2, 4]) func aSetHasThree(_ count: Int) throws {
        let bare = try Split().envelopes.map { try ReceivedEnvelope($0.bytes) }
        #expect(throws: ShareError.wrongCount(count)) {
            _ = try ReceivedEnvelope.inOrder((0..<count).map { bare[$0 % 3] })
        }
    }

    @Test(arguments: Wrapper.Damage.allCases)
    func aWrapperHasOneForm(_ damage: Wrapper.Damage) throws {
        let damaged = Wrapper.encode(try Split().envelopes[0], index: 0, damage: damage)
        #expect(throws: ShareError.malformed) { _ = try ReceivedEnvelope(damaged) }
    }

    /// TL byte strings of either form hold envelopes of other lengths.
    @Test(arguments: [16, 32, 208, 224, 256, 1_024])
    func envelopesOfOtherLengthsAreRead(_ messageBytes: Int) throws {
        let envelope = try ShareEnvelope(
            ephemeralKey: [UInt8](repeating: 1, count: 32),
            message: [UInt8](repeating: 2, count: messageBytes))
        let received = try ReceivedEnvelope(Wrapper.encode(envelope, index: 2, setID: .max))
        #expect(received.envelope == envelope)
        #expect(received.place?.index == 2)
        #expect(received.place?.setID == .max)
    }

    @Test func everyChangedBitOfAWrappedEnvelopeIsRefused() throws {
        let split = try Split()
        let whole = split.envelopes.enumerated().map { Wrapper.encode($1, index: $0) }
        #expect(try restored(whole, split) == Phrases.about)
        for bit in 0..<whole[0].count * 8 {
            var changed = whole
            changed[0][bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: ShareError.self, "bit \(bit)") { _ = try restored(changed, split) }
        }
    }

    private func restored(_ files: [[UInt8]], _ split: Split) throws -> String {
        let ordered = try ReceivedEnvelope.inOrder(files.map { try ReceivedEnvelope($0) })
        let payloads = try zip(ordered, split.holders).map { received, holder in
            SharedSecret(try received.envelope.open(privateKey: holder.privateKey.bytes))
        }
        return try PhraseBlock.decode(ShareSplit.combine(payloads)).text
    }
}

/// Writes the wrapper, which the library only reads.
enum Wrapper {
    enum Damage: CaseIterable {
        case indexOfThree
        case indexOfManyBytes
        case countOfTwo
        case countOfFour
        case headAlone
        case cutShort
        case aByteMore
        case aWordMore
        case shortFormOfALongText
        case longFormOfAShortText
        case reservedLength
        case lengthOfOneMore
        case lengthOfOneLess
        case noMessage
        case messageOfPartOfABlock
        case paddingThatIsNotZero
    }

    static func encode(
        _ envelope: ShareEnvelope, index: Int, setID: UInt32 = 7, damage: Damage? = nil
    ) -> [UInt8] {
        var index = UInt32(index)
        var count: UInt32 = 3
        var body = KeyPart.byteString(envelope.bytes)
        switch damage {
        case .indexOfThree: index = 3
        case .indexOfManyBytes: index = 1 << 24
        case .countOfTwo: count = 2
        case .countOfFour: count = 4
        case .headAlone: body = []
        case .cutShort: body.removeLast()
        case .aByteMore: body.append(0)
        case .aWordMore: body += [0, 0, 0, 0]
        case .shortFormOfALongText: body = [32] + envelope.bytes + [0, 0, 0]
        case .longFormOfAShortText: body = KeyPart.longHead(64) + envelope.bytes[..<64]
        case .reservedLength: body[0] = 255
        case .lengthOfOneMore: body[1] += 1
        case .lengthOfOneLess: body[1] -= 1
        case .noMessage: body = KeyPart.byteString(Array(envelope.bytes[..<32]))
        case .messageOfPartOfABlock: body = KeyPart.byteString(Array(envelope.bytes[..<71]))
        case .paddingThatIsNotZero:
            body = KeyPart.byteString(Array(envelope.bytes[..<64]))
            body[body.count - 1] = 1
        case nil: break
        }
        return [0x1ea8_7158, index, count, setID].flatMap(littleEndian) + body
    }

    private static func littleEndian(_ word: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
}
