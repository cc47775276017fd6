internal import LegacyKeychain

/// What is kept of a source that was read through: which wallets it has, what its lists say of
/// them, and where their phrases lie, but no phrase.
///
/// A wallet takes some forty bytes.
struct SourceIndex: Sendable {
    /// SHA-256 of the source.
    let digest: [UInt8]
    let wallets: LegacyWallets
    private let phrases: PhraseLocations

    init(digest: [UInt8], wallets: LegacyWallets, phrases: PhraseLocations) {
        self.digest = digest
        self.wallets = wallets
        self.phrases = phrases
    }

    /// Where the phrases of a wallet may lie, in the order of the source: one place, or several
    /// where its account stands there several times, or none that can be read.
    func phrases(at place: Int) -> [ValueLocation] { phrases[place] }
}

/// Places of values, in little memory, by the places of wallets.
struct PhraseLocations: Sendable {
    private var offsets: [Int64] = []
    private var lengths: [Int32] = []
    private var encodings: [ValueLocation.Encoding] = []
    /// Where the places of each wallet end.
    private var ends: [Int32] = []

    /// Adds a place for the wallet that is being added.
    mutating func add(_ location: ValueLocation) {
        offsets.append(Int64(location.offset))
        lengths.append(Int32(location.length))
        encodings.append(location.encoding)
    }

    /// Goes on to the next wallet.
    mutating func endWallet() { ends.append(Int32(offsets.count)) }

    subscript(place: Int) -> [ValueLocation] {
        let start = place == 0 ? 0 : Int(ends[place - 1])
        return (start..<Int(ends[place])).map { index in
            ValueLocation(
                offset: Int(offsets[index]), length: Int(lengths[index]),
                encoding: encodings[index])
        }
    }
}
