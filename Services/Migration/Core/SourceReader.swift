internal import Crypto
internal import LegacyKeychain
internal import MigrationMessages
internal import PropertyLists
internal import Secrets

/// Reads a source through, once for its digest and once for its rows.
struct SourceReader {
    /// Longer sources are not read, in bytes.
    static let byteCountMax = 1 << 30
    /// So much is read at a time for the digest.
    private static let pieceBytes = 65_536

    private let file: FileSource
    private let keychain: KeychainSource
    /// Ids of the wallets in the order of the rows; equal ones where an account is repeated.
    private var ids = LegacyIDList()
    /// Where the phrase of each lies; nil where it cannot be read.
    private var phrases: [ValueLocation?] = []
    /// Where the lists lie, by the chains' names; nil where one cannot be read.
    private var lists: [(genesis: String, value: ValueLocation?)] = []
    private var damagedRows = 0

    private init(_ file: FileSource) throws(MigrationFault) {
        guard file.count <= Self.byteCountMax else { throw .sourceMalformed }
        self.file = file
        do throws(KeychainError) { keychain = try KeychainSource(file) } catch {
            throw MigrationFault(error)
        }
    }

    /// The index of a file, which did not change while it was read.
    static func index(_ file: FileSource) throws(MigrationFault) -> SourceIndex {
        let mark = try file.mark
        let digest = try digest(of: file)
        var reader = try SourceReader(file)
        do throws(KeychainError) { try reader.readRows() } catch { throw MigrationFault(error) }
        let index = try reader.index(digest)
        guard try file.mark == mark else { throw .sourceChanged }
        return index
    }

    private static func digest(of file: FileSource) throws(MigrationFault) -> [UInt8] {
        var hash = SHA256Stream()
        var piece = SecretBytes(count: pieceBytes)
        var offset = 0
        while offset < file.count {
            let count = min(pieceBytes, file.count - offset)
            do throws(ByteSourceError) {
                try piece.withMutableBytes { bytes throws(ByteSourceError) in
                    let part = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
                    try file.read(at: offset, into: part)
                    hash.update(UnsafeRawBufferPointer(part))
                }
            } catch {
                throw MigrationFault(error)
            }
            offset += count
        }
        return hash.finish()
    }

    // MARK: Rows

    private mutating func readRows() throws(KeychainError) {
        let rows = try keychain.rows()
        while let row = try rows.next() {
            switch row {
            case .item(let item):
                guard isOurs(item.service) else { continue }
                note(item.account, item.value)
            case .damaged(let item):
                // It might be of any service where that cannot be told.
                guard item.service.map(isOurs) ?? true else { continue }
                guard let account = item.account else {
                    damagedRows += 1
                    continue
                }
                note(account, nil)
            }
        }
    }

    private func isOurs(_ service: String) -> Bool {
        service.utf8.elementsEqual(LegacyLayout.service.utf8)
    }

    private mutating func note(_ account: String, _ value: ValueLocation?) {
        if let id = account.after(LegacyLayout.phrasePrefix) {
            ids.append(id)
            phrases.append(value)
        } else if let genesis = account.after(LegacyLayout.listPrefix) {
            lists.append((String(genesis), value))
        }
    }

    // MARK: The index

    private func index(_ digest: [UInt8]) throws(MigrationFault) -> SourceIndex {
        var sorted = LegacyIDList()
        var locations = PhraseLocations()
        var last: Int?
        for row in ids.sortedIndices().map(Int.init) {
            if last.map({ !ids.isEqual(at: $0, to: row) }) ?? true {
                if last != nil { locations.endWallet() }
                sorted.append(ids[row].text)
            }
            if let location = phrases[row] { locations.add(location) }
            last = row
        }
        if last != nil { locations.endWallet() }
        var wallets = LegacyWallets(sorted: sorted, damagedRows: damagedRows)
        for list in try readLists() { wallets.hear(list) }
        return SourceIndex(digest: digest, wallets: wallets, phrases: locations)
    }

    /// Every list, one item at a time.
    private func readLists() throws(MigrationFault) -> [ChainList] {
        var found: [String: [LegacyID]?] = [:]
        for (genesis, location) in lists {
            let names = try location.flatMap { value throws(MigrationFault) in try read(value) }
            if let earlier = found[genesis], earlier != names {
                // The account is repeated, and nobody can tell which of the two is right.
                found[genesis] = .some(nil)
            } else {
                found[genesis] = .some(names)
            }
        }
        return found.map { ChainList(chain: Chain(genesis: $0), names: $1) }
    }

    /// The wallets that a list names; nil where it cannot be decoded.
    private func read(_ location: ValueLocation) throws(MigrationFault) -> [LegacyID]? {
        let value: SecretBytes
        do throws(KeychainError) { value = try keychain.value(at: location) } catch {
            guard error != .noValue else { return nil }
            throw MigrationFault(error)
        }
        guard let names = try? KeyedArchive.strings(in: value) else { return nil }
        return names.map { LegacyID($0) }
    }
}

extension MigrationFault {
    init(_ error: KeychainError) {
        switch error {
        case .unknownFormat, .malformed, .noGenericPasswords, .tooManyRows, .noValue:
            self = .sourceMalformed
        case .source(let error): self = MigrationFault(error)
        }
    }

    init(_ error: ByteSourceError) {
        switch error {
        case .outOfRange, .shortened: self = .sourceChanged
        case .notAFile, .failed: self = .sourceUnreadable
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
