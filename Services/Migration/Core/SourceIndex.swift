internal import LegacyKeychain

/// What is kept of a source that was read through: which wallets it has, what its lists say of
/// them, and where their phrases lie, but no phrase.
///
/// A wallet takes some forty bytes.
struct SourceIndex: Sendable {
    /// SHA-256 of the source.
    let digest: [UInt8]
    /// Rows of the legacy app, of whatever kind.
    let rows: Int
    let wallets: LegacyWallets
    private let phrases: PhraseLocations

    init(digest: [UInt8], rows: Int, wallets: LegacyWallets, phrases: PhraseLocations) {
        self.digest = digest
        self.rows = rows
        self.wallets = wallets
        self.phrases = phrases
    }

    /// Where the phrases of a wallet may lie, in the order of the source: one place, or several
    /// where its account stands there several times, or none that can be read.
    func phrases(at place: Int) -> [ValueLocation] { phrases[place] }
}

/// Places of values, in little memory, by the places of wallets.
struct PhraseLocations: Sendable {
    /// Places of one wallet; no keychain has so many, and each may have to be tried.
    static let perWalletMax = 64

    private var offsets: [Int64] = []
    private var lengths: [Int32] = []
    private var encodings: [ValueLocation.Encoding] = []
    /// Where the places of each wallet end.
    private var ends: [Int32] = []

    /// Adds a place for the wallet that is being added, once; false where it has too many.
    mutating func add(_ location: ValueLocation) -> Bool {
        let known = Int(ends.last ?? 0)..<offsets.count
        guard !known.contains(where: { self.location($0) == location }) else { return true }
        guard known.count < Self.perWalletMax else { return false }
        offsets.append(Int64(location.offset))
        lengths.append(Int32(location.length))
        encodings.append(location.encoding)
        return true
    }

    /// Goes on to the next wallet.
    mutating func endWallet() { ends.append(Int32(offsets.count)) }

    subscript(place: Int) -> [ValueLocation] {
        let start = place == 0 ? 0 : Int(ends[place - 1])
        return (start..<Int(ends[place])).map(location)
    }

    private func location(_ index: Int) -> ValueLocation {
        ValueLocation(
            offset: Int(offsets[index]), length: Int(lengths[index]), encoding: encodings[index])
    }
}
