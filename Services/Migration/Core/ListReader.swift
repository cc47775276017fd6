internal import LegacyKeychain
internal import MigrationMessages
internal import PropertyLists
internal import Secrets

/// Reads the lists of a source, one item at a time.
struct ListReader {
    /// Rows of lists; more are not read.
    static let rowsMax = 256
    /// Names on all lists together.
    static let namesMax = 200_000
    /// Bytes of all lists together, of a source with so many: two chains may share a list.
    static func bytesMax(_ byteCount: Int) -> Int { 65_536 + 2 * byteCount }

    typealias Row = (genesis: String, value: ValueLocation?)

    private var left: ArraySlice<Row>
    /// The list at hand, of which there may be another row.
    private var open: (genesis: String, names: [LegacyID]?)?
    private var nameCount = 0
    /// Wallets that a list names and the source has no phrase of.
    private(set) var strangers: Set<LegacyID> = []

    /// - Parameters:
    ///   - rows: where the lists lie, by the chains' names; nil where one cannot be read.
    ///   - byteCount: of the source.
    init(_ rows: [Row], byteCount: Int) throws(ReadingTrouble) {
        let bytes = rows.reduce(0) { $0 + ($1.value?.length ?? 0) }
        guard rows.count <= Self.rowsMax, bytes <= Self.bytesMax(byteCount) else {
            throw .fault(.sourceTooLarge)
        }
        left = rows.sorted { $0.genesis < $1.genesis }[...]
    }

    /// Reads the next row and tells the wallets of every list that is complete; false after the
    /// last one.
    mutating func next(
        of keychain: KeychainSource, _ wallets: inout LegacyWallets
    ) throws(ReadingTrouble) -> Bool {
        guard let row = left.popFirst() else {
            close(&wallets)
            return false
        }
        let names = try row.value.flatMap { (value) throws(ReadingTrouble) in
            try read(value, of: keychain)
        }
        nameCount += names?.count ?? 0
        guard nameCount <= Self.namesMax else { throw .fault(.sourceTooLarge) }
        if let list = open, list.genesis == row.genesis {
            // The account is repeated, and nobody can tell which of the two is right.
            if list.names != names { open?.names = nil }
        } else {
            close(&wallets)
            open = (row.genesis, names)
        }
        return true
    }

    private mutating func close(_ wallets: inout LegacyWallets) {
        guard let list = open else { return }
        open = nil
        for name in list.names ?? [] where wallets.place(of: name) == nil {
            strangers.insert(name)
        }
        wallets.hear(ChainList(chain: Chain(genesis: list.genesis), names: list.names))
    }

    /// The wallets that a list names; nil where it cannot be decoded.
    private func read(
        _ location: ValueLocation, of keychain: KeychainSource
    ) throws(ReadingTrouble) -> [LegacyID]? {
        let value: SecretBytes
        do throws(KeychainError) { value = try keychain.value(at: location) } catch {
            guard error != .noValue else { return nil }
            throw ReadingTrouble(error)
        }
        guard let names = try? KeyedArchive.strings(in: value) else { return nil }
        return names.map { LegacyID($0) }
    }
}
