import Foundation
import Secrets
import Synchronization
import Testing

@testable import BackupShares

/// No share tells anything of its phrase: over many splits, every byte of every share is uniform,
/// and so is its difference from the byte after it.
@Suite struct UniformityRules {
    static let splitCount =
        ProcessInfo.processInfo.environment["COFFER_THOROUGH"] == nil ? 2_000 : 20_000

    @Test(arguments: [Phrases.about, Phrases.longest])
    func everyByteOfEveryShareIsUniform(_ phrase: String) throws {
        let found = try departures(phrase, splits: Self.splitCount, random: KernelRandom())
        #expect(found.isEmpty, "not uniform: \(found.joined(separator: ", "))")
    }

    @Test(arguments: ReusingRandom.Reuse.allCases)
    func aSplitThatUsesOneRandomByteTwiceIsNotUniform(_ reuse: ReusingRandom.Reuse) throws {
        let random = ReusingRandom(reuse)
        let found = try departures(Phrases.about, splits: Self.splitCount, random: random)
        #expect(found.contains { $0.hasSuffix(" \(ReusingRandom.index)") })
        #expect(found.count < 10)
    }

    /// Names every place whose chi-square is beyond the limit.
    private func departures(
        _ phrase: String, splits: Int, random: some RandomSource
    ) throws -> [String] {
        let block = try block(of: phrase)
        var bytes = Tally()
        var differences = Tally()
        for _ in 0..<splits {
            for (share, payload) in try ShareSplit.split(block, random: random).enumerated() {
                payload.bytes.withBytes { payload in
                    let text = payload.dropFirst(ShareSplit.prefix.count)
                    var last = text[text.endIndex - 1]
                    for (place, byte) in text.enumerated() {
                        bytes.count(byte, share, place)
                        differences.count(byte ^ last, share, place)
                        last = byte
                    }
                }
            }
        }
        return bytes.departures("byte") + differences.departures("difference")
    }
}

/// How often each value stood at each place of each share.
private struct Tally {
    private static let places = PhraseBlock.byteCount
    private var counts = [UInt32](repeating: 0, count: 3 * Self.places * 256)

    mutating func count(_ byte: UInt8, _ share: Int, _ place: Int) {
        counts[(share * Self.places + place) * 256 + Int(byte)] += 1
    }

    /// Chi-square of 255 degrees of freedom; by chance one in 2 · 10^10 is beyond 431 (Wilson and
    /// Hilferty), so that among the 2,580 of two phrases one in 10^7 runs finds any.
    func departures(_ name: String) -> [String] {
        (0..<3 * Self.places).compactMap { row in
            let values = counts[(row * 256)..<(row * 256 + 256)].map(Double.init)
            let expected = values.reduce(0, +) / 256
            let chiSquare = values.reduce(0) { $0 + ($1 - expected) * ($1 - expected) / expected }
            return chiSquare > 431
                ? "\(name) of share \(row / Self.places) at \(row % Self.places)" : nil
        }
    }
}

/// A source with a fault: of the two shares that a split draws, one byte is not new.
final class ReusingRandom: RandomSource {
    enum Reuse: CaseIterable {
        /// The same byte in every split.
        case acrossSplits
        /// The same byte in the first and the second share.
        case acrossShares
        /// The byte before it.
        case acrossPlaces
    }

    static let index = 17
    private let reuse: Reuse
    private let last = Mutex<UInt8?>(nil)

    init(_ reuse: Reuse) { self.reuse = reuse }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        KernelRandom().fill(buffer)
        last.withLock { last in
            switch reuse {
            case .acrossSplits: buffer[Self.index] = 0x5A
            case .acrossPlaces: buffer[Self.index] = buffer[Self.index - 1]
            case .acrossShares:
                if let first = last.take() {
                    buffer[Self.index] = first
                } else {
                    last = buffer[Self.index]
                }
            }
        }
    }
}
