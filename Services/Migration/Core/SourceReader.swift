internal import Clocks
internal import LegacyKeychain
internal import MigrationMessages
internal import PropertyLists
internal import Secrets

/// Reads a source through, once for its digest and once for its rows, then its lists.
///
/// It goes slice by slice, and what it keeps is bounded, whatever the source is.
struct SourceReader {
    /// Longer sources are not read, in bytes.
    static let byteCountMax = 1 << 30
    /// Rows of phrases.
    static let phraseRowsMax = 100_000
    /// Bytes of their wallets' ids.
    static let idBytesMax = 8_388_608
    private static let rowsPerSlice = 1_024
    /// Rows can be long: a slice is over after so many nanoseconds too.
    private static let sliceNanoseconds: UInt64 = 20_000_000

    private let file: LeasedSource
    private let keychain: KeychainSource
    private let mark: FileMark
    private var stage: Stage
    private var digest: [UInt8] = []
    /// Rows of the legacy app.
    private var rowCount = 0
    /// Ids of the wallets in the order of the rows; equal ones where an account is repeated.
    private var ids = LegacyIDList()
    /// Where the phrase of each lies; nil where it cannot be read.
    private var phrases: [ValueLocation?] = []
    private var lists: [ListReader.Row] = []
    private var damagedRows = 0

    private enum Stage {
        case digest(DigestReader)
        case rows(KeychainRows)
        case lists(ListReader, LegacyWallets, PhraseLocations)
        case over
    }

    init(_ file: FileSource, _ leave: ReadingLeave) throws(ReadingTrouble) {
        guard file.count <= Self.byteCountMax else { throw .fault(.sourceTooLarge) }
        self.file = LeasedSource(file: file, leave: leave)
        stage = .digest(DigestReader(self.file))
        do throws(ByteSourceError) { mark = try file.currentMark() } catch {
            throw ReadingTrouble(error)
        }
        do throws(KeychainError) { keychain = try KeychainSource(self.file) } catch {
            throw ReadingTrouble(error)
        }
    }

    /// One slice; the index of the file, which did not change meanwhile, where it was the last.
    mutating func advance() throws(ReadingTrouble) -> SourceIndex? {
        let now = stage
        stage = .over
        switch now {
        case .digest(let reader): try read(reader)
        case .rows(let rows): try read(rows)
        case .lists(let reader, let wallets, let phrases):
            return try read(reader, wallets, phrases)
        case .over: throw .abandoned
        }
        return nil
    }

    private mutating func read(_ reader: DigestReader) throws(ReadingTrouble) {
        let found: [UInt8]?
        do throws(ByteSourceError) { found = try reader.advance() } catch {
            throw ReadingTrouble(error)
        }
        guard let found else {
            stage = .digest(reader)
            return
        }
        digest = found
        do throws(KeychainError) { stage = .rows(try keychain.rows()) } catch {
            throw ReadingTrouble(error)
        }
    }

    // MARK: Rows

    private mutating func read(_ rows: KeychainRows) throws(ReadingTrouble) {
        let clock = file.leave.clock
        let end = clock.now.nanoseconds + Self.sliceNanoseconds
        for _ in 0..<Self.rowsPerSlice {
            let row: KeychainRow?
            do throws(KeychainError) { row = try rows.next() } catch {
                throw ReadingTrouble(error)
            }
            guard let row else {
                stage = try listsStage()
                return
            }
            try note(row)
            guard clock.now.nanoseconds < end else { break }
        }
        stage = .rows(rows)
    }

    private mutating func note(_ row: KeychainRow) throws(ReadingTrouble) {
        switch row {
        case .item(let item):
            guard isOurs(item.service) else { return }
            try note(item.account, item.value)
        case .damaged(let item):
            // It might be of any service where that cannot be told.
            guard item.service.map(isOurs) ?? true else { return }
            guard let account = item.account else {
                damagedRows += 1
                return
            }
            try note(account, nil)
        }
    }

    private func isOurs(_ service: String) -> Bool {
        service.utf8.elementsEqual(LegacyLayout.service.utf8)
    }

    private mutating func note(
        _ account: String, _ value: ValueLocation?
    ) throws(ReadingTrouble) {
        rowCount += 1
        if let id = account.after(LegacyLayout.phrasePrefix) {
            guard phrases.count < Self.phraseRowsMax,
                ids.byteCount + id.utf8.count <= Self.idBytesMax
            else { throw .fault(.sourceTooLarge) }
            ids.append(id)
            phrases.append(value)
        } else if let genesis = account.after(LegacyLayout.listPrefix) {
            guard lists.count < ListReader.rowsMax else { throw .fault(.sourceTooLarge) }
            lists.append((String(genesis), value))
        }
    }

    // MARK: The index

    /// What comes when all rows were read.
    private func listsStage() throws(ReadingTrouble) -> Stage {
        var sorted = LegacyIDList()
        var locations = PhraseLocations()
        var last: Int?
        for row in ids.sortedIndices().map(Int.init) {
            if last.map({ !ids.isEqual(at: $0, to: row) }) ?? true {
                if last != nil { locations.endWallet() }
                sorted.append(ids[row].text)
            }
            if let location = phrases[row], !locations.add(location) {
                throw .fault(.sourceTooLarge)
            }
            last = row
        }
        if last != nil { locations.endWallet() }
        return .lists(
            try ListReader(lists, byteCount: file.count),
            LegacyWallets(sorted: sorted, damagedRows: damagedRows), locations)
    }

    private mutating func read(
        _ reader: ListReader, _ wallets: LegacyWallets, _ phrases: PhraseLocations
    ) throws(ReadingTrouble) -> SourceIndex? {
        var (reader, wallets) = (reader, wallets)
        guard try !reader.next(of: keychain, &wallets) else {
            stage = .lists(reader, wallets, phrases)
            return nil
        }
        wallets.phraselessCount = reader.strangers.count
        let isUnchanged: Bool
        do throws(ByteSourceError) { isUnchanged = try file.file.currentMark() == mark } catch {
            throw ReadingTrouble(error)
        }
        guard isUnchanged else { throw .fault(.sourceChanged) }
        return SourceIndex(digest: digest, rows: rowCount, wallets: wallets, phrases: phrases)
    }
}

extension MigrationFault {
    init(_ error: KeychainError) {
        switch error {
        case .unknownFormat, .malformed, .noGenericPasswords, .noValue: self = .sourceMalformed
        case .tooLarge, .tooManyRows: self = .sourceTooLarge
        case .source(let error): self = MigrationFault(error)
        }
    }

    init(_ error: ByteSourceError) {
        switch error {
        case .outOfRange, .shortened: self = .sourceChanged
        case .notAFile, .failed, .abandoned: self = .sourceUnreadable
        }
    }
}

extension FileSource {
    /// What tells this file, as it stands now, from another one and from itself changed.
    var mark: FileMark {
        get throws(MigrationFault) {
            do throws(ByteSourceError) { return try currentMark() } catch {
                throw MigrationFault(error)
            }
        }
    }
}
