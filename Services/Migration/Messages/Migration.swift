public import Wire

/// The migration: reads the keychain of a legacy Dash wallet app, which it never changes, and takes
/// its wallets into the vault.
public enum Migration: ServiceTag {
    public static var service: ServiceName { .migration }
}

extension Callers {
    /// Wallet apps and the person's own command.
    static var apps: Callers { Callers(roles: [.app]) }
}

/// Names one run over a source.
public typealias MigrationRunID = Identifier<FollowRun>

/// Where a legacy keychain lies: a file on the machine of the service.
public struct SourcePath: TextIdentifier {
    /// An absolute path, at most 4,096 bytes, without a zero byte.
    public let text: String

    public init?(_ text: String) {
        guard text.hasPrefix("/"), text.utf8.count <= 4_096, !text.utf8.contains(0) else {
            return nil
        }
        self.text = text
    }
}

/// Why a legacy wallet is treated as it is.
public enum ClassReason: String, TextIdentifier, CaseIterable {
    /// It was taken in before.
    case inLedger = "in_ledger"
    /// It was taken in before, and the vault did not have it when it was looked for last.
    case missing
    /// The list of the main network names it.
    case listedMainnet = "listed_mainnet"
    /// The list of the test network names it.
    case listedTestnet = "listed_testnet"
    /// Every list was read and none names it: it was reset in the app.
    case namedByNone = "named_by_none"
    /// No list that can be read names it, and one that cannot be read might.
    case unreadableList = "unreadable_list"
    /// Only the list of a network that is not supported names it.
    case unsupportedChain = "unsupported_chain"
    /// There is no list at all.
    case noList = "no_list"

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }

    /// How the wallet is treated.
    public var walletClass: WalletClass {
        switch self {
        case .inLedger, .missing: .inLedger
        case .listedMainnet, .listedTestnet: .listed
        case .namedByNone: .orphaned
        case .unreadableList: .undetermined
        case .unsupportedChain, .noList: .unknownChain
        }
    }
}

/// How a legacy wallet is treated.
public enum WalletClass: String, TextIdentifier, CaseIterable {
    /// It is settled: taken in by an earlier run.
    case inLedger = "in_ledger"
    /// It is to be taken in.
    case listed
    /// It is settled: reset in the app, it stays where it is.
    case orphaned
    /// Nobody knows; a failure of the run.
    case undetermined
    /// It is of a network that is not supported; it waits.
    case unknownChain = "unknown_chain"

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// What a launching wallet app may do about legacy wallets.
public enum LaunchState: String, TextIdentifier, CaseIterable {
    /// There is nothing to take in: setup can be offered.
    case absent
    /// There is something to take in.
    case pending
    /// Nobody can tell: setup must not be offered.
    case unreadable

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// How many wallets there are of each class, and how much of a source cannot be read.
public struct ClassCounts: Message, Equatable {
    public var inLedger: UInt64
    /// Of those in the ledger, wallets that the vault did not have when they were looked for last.
    public var missing: UInt64
    public var listed: UInt64
    public var orphaned: UInt64
    public var undetermined: UInt64
    public var unknownChain: UInt64
    /// Rows that cannot be read and of which nobody can tell whether they are a wallet or a list of
    /// wallets.
    ///
    /// One of them is a failure of the run, like an undetermined wallet.
    public var damaged: UInt64
    /// Wallets that a readable list names and of which the source has no phrase.
    ///
    /// They hold nothing up: a list keeps the names of wallets that were removed. Where a person
    /// misses one, the source is not whole.
    public var phraseless: UInt64

    public init(
        inLedger: UInt64 = 0, missing: UInt64 = 0, listed: UInt64 = 0, orphaned: UInt64 = 0,
        undetermined: UInt64 = 0, unknownChain: UInt64 = 0, damaged: UInt64 = 0,
        phraseless: UInt64 = 0
    ) {
        self.inLedger = inLedger
        self.missing = missing
        self.listed = listed
        self.orphaned = orphaned
        self.undetermined = undetermined
        self.unknownChain = unknownChain
        self.damaged = damaged
        self.phraseless = phraseless
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([
            "in_ledger", "missing", "listed", "orphaned", "undetermined", "unknown_chain",
            "damaged", "phraseless",
        ])
        inLedger = try object.uint64("in_ledger")
        missing = try object.uint64("missing")
        listed = try object.uint64("listed")
        orphaned = try object.uint64("orphaned")
        undetermined = try object.uint64("undetermined")
        unknownChain = try object.uint64("unknown_chain")
        damaged = try object.uint64("damaged")
        phraseless = try object.uint64("phraseless")
    }

    public func write(to writer: inout JSONWriter) {
        writer.uint64("in_ledger", inLedger)
        writer.uint64("missing", missing)
        writer.uint64("listed", listed)
        writer.uint64("orphaned", orphaned)
        writer.uint64("undetermined", undetermined)
        writer.uint64("unknown_chain", unknownChain)
        writer.uint64("damaged", damaged)
        writer.uint64("phraseless", phraseless)
    }
}
