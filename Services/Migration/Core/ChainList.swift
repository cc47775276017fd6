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
