internal import Storage
internal import VaultMessages
internal import Wire

/// A row of the table of wallets, which somebody may have written into.
enum WalletRow: Equatable, Sendable {
    case readable(WalletRecord)
    /// One that holds what no row can hold, with what names it.
    case damaged(String)

    /// Reads a row with the columns position, owner, namespace, wallet, kind, network, label,
    /// words, identity and mac.
    init(_ row: borrowing Row) throws(StorageError) {
        do throws(StorageError) {
            self = .readable(try Self.record(row))
        } catch .damaged, .wrongType {
            self = .damaged(try Self.name(of: row))
        }
    }

    private static func record(_ row: borrowing Row) throws(StorageError) -> WalletRecord {
        let kind: WalletKind = try identifier(row.text(4))
        var network: WalletNetwork?
        if let text = try row.optionalText(5) { network = try identifier(text) }
        guard let family = WalletFamily(kind, network),
            let words = Int32(exactly: try row.integer(7))
        else { throw .damaged }
        return WalletRecord(
            owner: try identifier(row.text(1)), namespace: try identifier(row.text(2)),
            wallet: try identifier(row.text(3)), family: family, label: try row.text(6),
            words: Int(words), identity: try row.blob(8), mac: try row.blob(9))
    }

    /// The wallet's id, or the row's number where the id cannot be read.
    private static func name(of row: borrowing Row) throws(StorageError) -> String {
        do throws(StorageError) {
            let wallet: WalletID = try identifier(row.text(3))
            return wallet.text
        } catch .damaged, .wrongType {
            return "row \(try row.integer(0))"
        }
    }

    private static func identifier<T: TextIdentifier>(
        _ text: String
    ) throws(StorageError) -> T {
        guard let value = T(text) else { throw .damaged }
        return value
    }
}

/// Some wallets of a namespace, and what names those between them that cannot be read.
struct WalletPage {
    /// How many wallets it holds, and how many names.
    let limit: Int
    private(set) var records: [WalletRecord] = []
    private(set) var damaged: [String] = []
    /// Whether there are more behind it.
    private(set) var more = false

    init(limit: Int) { self.limit = limit }

    /// Takes in the next row.
    ///
    /// - Returns: false where the page is full.
    mutating func take(_ row: WalletRow) -> Bool {
        guard records.count < limit else {
            more = true
            return false
        }
        switch row {
        case .readable(let record): records.append(record)
        case .damaged(let name): if damaged.count < limit { damaged.append(name) }
        }
        return true
    }
}
