public import MigrationMessages
public import VaultMessages

/// The wallets of a keychain in the order of their ids, each with what the lists say of it.
public struct LegacyWallets: Sendable {
    private let ids: LegacyIDList
    private var namings: [Naming]
    private var hasLists = false
    private var hasUnreadableLists = false
    /// Rows of the keychain of which nobody can tell whether they are a wallet or a list.
    public let damagedRows: Int
    /// Wallets that a readable list names and that are not among these.
    var phraselessCount = 0

    /// Wallets that no list was asked about yet.
    ///
    /// - Parameter ids: sorted, none twice.
    /// - Parameter damagedRows: one of them may be a list, which is then one that cannot be read.
    init(sorted ids: LegacyIDList, damagedRows: Int) {
        self.ids = ids
        namings = Array(repeating: [], count: ids.count)
        self.damagedRows = damagedRows
        if damagedRows > 0 {
            hasLists = true
            hasUnreadableLists = true
        }
    }

    /// - Parameter accounts: every account of the keychain's service.
    /// - Parameter list: the ids that a list account's item holds; nil where it cannot be read or
    ///   decoded.
    public init(accounts: [String], list: (_ account: String) -> [String]?) {
        var ids: Set<LegacyID> = []
        var lists: [ChainList] = []
        for account in accounts {
            if let id = account.after(LegacyLayout.phrasePrefix) {
                ids.insert(LegacyID(id))
            } else if let genesis = account.after(LegacyLayout.listPrefix) {
                let names = list(account)?.map { LegacyID($0) }
                lists.append(ChainList(chain: Chain(genesis: genesis), names: names))
            }
        }
        var sorted = LegacyIDList()
        for id in ids.sorted() { sorted.append(id.text) }
        self.init(sorted: sorted, damagedRows: 0)
        for list in lists { hear(list) }
    }

    /// Takes in what one list says.
    mutating func hear(_ list: ChainList) {
        hasLists = true
        guard let names = list.names else {
            hasUnreadableLists = true
            return
        }
        for name in names {
            if let place = ids.place(of: name) { namings[place].insert(Naming(list.chain)) }
        }
    }

    // MARK: The wallets

    public var count: Int { ids.count }

    public func id(at place: Int) -> LegacyID { ids[place] }

    /// The place of a wallet; nil where the keychain has none of this id.
    public func place(of id: LegacyID) -> Int? { ids.place(of: id) }

    /// How a wallet is treated that was not taken in before (step 5 of the migration document).
    ///
    /// A readable list of a supported network decides, whatever became of the others.
    public func reason(at place: Int) -> ClassReason {
        let naming = namings[place]
        if naming.contains(.mainnet) { return .listedMainnet }
        if naming.contains(.testnet) { return .listedTestnet }
        if naming.contains(.unsupported) { return .unsupportedChain }
        if !hasLists { return .noList }
        return hasUnreadableLists ? .unreadableList : .namedByNone
    }

    /// Whether the readable list of a network names a wallet.
    public func isNamed(at place: Int, on network: WalletNetwork) -> Bool {
        namings[place].contains(network == .mainnet ? .mainnet : .testnet)
    }
}

extension String {
    /// What follows a prefix, compared byte for byte; nil where it does not stand there.
    func after(_ prefix: String) -> Substring? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return Substring(utf8.dropFirst(prefix.utf8.count))
    }
}
