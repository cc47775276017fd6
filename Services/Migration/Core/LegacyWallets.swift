public import MigrationMessages
public import VaultMessages

/// The wallets of a keychain in the order of their ids, each with what the lists say of it.
public struct LegacyWallets: Sendable {
    /// Sorted, none twice.
    public let ids: [LegacyID]
    private let namings: [ChainLists.Naming]
    private let reasons: [ClassReason]

    /// - Parameter ids: in any order.
    public init(ids: [LegacyID], lists: ChainLists) {
        var sorted = ids.sorted()
        var last: LegacyID?
        sorted.removeAll { id in
            defer { last = id }
            return id == last
        }
        self.ids = sorted
        namings = sorted.map { lists.naming(of: $0) }
        reasons = namings.map { lists.reason(for: $0) }
    }

    /// - Parameter accounts: every account of the keychain's service.
    /// - Parameter list: the ids that a list account's item holds; nil where it cannot be read or
    ///   decoded.
    public init(accounts: [String], list: (_ account: String) -> [String]?) {
        var ids: [LegacyID] = []
        var lists = ChainLists()
        for account in accounts {
            if let id = account.after(LegacyLayout.phrasePrefix) {
                ids.append(LegacyID(id))
            } else if let genesis = account.after(LegacyLayout.listPrefix) {
                let names = list(account)?.map { LegacyID($0) }
                lists.add(ChainList(chain: Chain(genesis: genesis), names: names))
            }
        }
        self.init(ids: ids, lists: lists)
    }

    /// The place of a wallet; nil where the keychain has none of this id.
    public func index(of id: LegacyID) -> Int? {
        let index = firstIndex(notBelow: id)
        return index < ids.count && ids[index] == id ? index : nil
    }

    /// The place of the first wallet whose id comes after another's.
    public func firstIndex(after id: LegacyID) -> Int {
        let index = firstIndex(notBelow: id)
        return index < ids.count && ids[index] == id ? index + 1 : index
    }

    /// What the lists say of a wallet.
    public func reason(at index: Int) -> ClassReason { reasons[index] }

    /// Whether the readable list of a network names a wallet.
    public func isNamed(at index: Int, on network: WalletNetwork) -> Bool {
        namings[index].contains(network == .mainnet ? .mainnet : .testnet)
    }

    private func firstIndex(notBelow id: LegacyID) -> Int {
        var range = ids.startIndex..<ids.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if ids[middle] < id {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}

extension String {
    /// What follows a prefix, compared byte for byte; nil where it does not stand there.
    func after(_ prefix: String) -> Substring? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return Substring(utf8.dropFirst(prefix.utf8.count))
    }
}
