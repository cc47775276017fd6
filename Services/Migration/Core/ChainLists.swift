internal import MigrationMessages

/// One list of a chain's wallets, by itself.
public struct ChainList: Sendable {
    public var chain: Chain
    /// The wallets that it names; nil where it cannot be read or decoded, which is not the same as
    /// empty: it might name any wallet.
    public var names: [LegacyID]?

    public init(chain: Chain, names: [LegacyID]?) {
        self.chain = chain
        self.names = names
    }
}

/// What all the lists of a keychain say together.
public struct ChainLists: Sendable {
    /// The chains whose readable lists name a wallet.
    struct Naming: OptionSet, Sendable {
        let rawValue: UInt8

        static let mainnet = Naming(rawValue: 1)
        static let testnet = Naming(rawValue: 2)
        static let unsupported = Naming(rawValue: 4)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ chain: Chain) {
            self =
                switch chain {
                case .mainnet: .mainnet
                case .testnet: .testnet
                case .unsupported: .unsupported
                }
        }
    }

    private var namings: [LegacyID: Naming] = [:]
    private var isEmpty = true
    private var hasUnreadable = false

    public init(_ lists: [ChainList] = []) {
        for list in lists { add(list) }
    }

    public mutating func add(_ list: ChainList) {
        isEmpty = false
        guard let names = list.names else {
            hasUnreadable = true
            return
        }
        for name in names { namings[name, default: []].insert(Naming(list.chain)) }
    }

    func naming(of wallet: LegacyID) -> Naming { namings[wallet] ?? [] }

    /// How a wallet is treated that was not taken in before (step 5 of the migration document).
    ///
    /// A readable list of a supported network decides, whatever became of the others.
    func reason(for naming: Naming) -> ClassReason {
        if naming.contains(.mainnet) { return .listedMainnet }
        if naming.contains(.testnet) { return .listedTestnet }
        if naming.contains(.unsupported) { return .unsupportedChain }
        if isEmpty { return .noList }
        return hasUnreadable ? .unreadableList : .namedByNone
    }
}
