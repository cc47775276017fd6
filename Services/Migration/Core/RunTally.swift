public import MigrationMessages
public import VaultMessages

/// What is known of a keychain's wallets while a run goes over them: steps 3 to 6 of the migration
/// document as a value.
public struct RunTally: Sendable {
    public let wallets: LegacyWallets
    /// By place: why each wallet is treated as it is, as of now.
    private var reasons: [ClassReason]
    private var failures: Set<Int> = []
    public private(set) var counts: ClassCounts

    /// Before anything was taken in.
    public init(_ wallets: LegacyWallets) {
        self.wallets = wallets
        reasons = (0..<wallets.count).map { wallets.reason(at: $0) }
        counts = ClassCounts(
            damaged: UInt64(wallets.damagedRows), phraseless: UInt64(wallets.phraselessCount))
        for reason in reasons { counts[reason.walletClass] += 1 }
    }

    /// Notes that a wallet stands in the success ledger; nothing where the keychain has none of
    /// this id.
    ///
    /// - Parameter isMissing: whether the vault is known to lack it.
    public mutating func settle(_ id: LegacyID, isMissing: Bool = false) {
        if let place = wallets.place(of: id) { settle(at: place, isMissing: isMissing) }
    }

    /// Notes that the wallet at a place stands in the success ledger.
    ///
    /// - Parameter isMissing: whether the vault is known to lack it.
    public mutating func settle(at place: Int, isMissing: Bool = false) {
        counts[reasons[place].walletClass] -= 1
        if reasons[place] == .missing { counts.missing -= 1 }
        reasons[place] = isMissing ? .missing : .inLedger
        counts[.inLedger] += 1
        if isMissing { counts.missing += 1 }
        failures.remove(place)
    }

    /// Notes that a wallet could not be taken in.
    public mutating func fail(at place: Int) { failures.insert(place) }

    /// Why the wallet at a place is treated as it is.
    public func reason(at place: Int) -> ClassReason { reasons[place] }

    /// The places of the wallets that a run takes in, in the order of their ids.
    ///
    /// - Parameter network: the one whose list must name them; nil for either.
    public func work(on network: WalletNetwork? = nil) -> [Int] {
        reasons.indices.filter { place in
            guard reasons[place].walletClass == .listed else { return false }
            guard let network else { return true }
            return wallets.isNamed(at: place, on: network)
        }
    }

    /// What the run leaves, were it over now.
    public var verdict: RunVerdict { RunVerdict(counts, failures: failures.count) }

    /// What a launching app may do, as of now.
    public var launch: LaunchState { LaunchState(counts) }
}

/// What a run leaves behind: the done marker and the defer flags.
public struct RunVerdict: Equatable, Sendable {
    /// Every wallet was taken in, now or before, or is orphaned.
    public var done: Bool
    /// A wallet is of an unknown chain.
    public var deferredUnknownChain: Bool
    /// A wallet is undetermined, or could not be taken in.
    public var deferredFailure: Bool

    public init(done: Bool, deferredUnknownChain: Bool, deferredFailure: Bool) {
        self.done = done
        self.deferredUnknownChain = deferredUnknownChain
        self.deferredFailure = deferredFailure
    }

    /// - Parameter failures: how many wallets the run could not take in, or take in again.
    init(_ counts: ClassCounts, failures: Int) {
        done = counts.isSettled && failures == 0
        deferredUnknownChain = counts.unknownChain > 0
        deferredFailure = counts.undetermined > 0 || counts.damaged > 0 || failures > 0
    }

    /// Of a run over a keychain that cannot be enumerated.
    public static let unreadable = RunVerdict(
        done: false, deferredUnknownChain: false, deferredFailure: true)
}

extension LaunchState {
    /// The launch decision, by the same classes as a run's.
    init(_ counts: ClassCounts) {
        if counts.isSettled {
            self = .absent
        } else if counts.listed == 0 && counts.unknownChain == 0 {
            self = .unreadable
        } else {
            self = .pending
        }
    }
}

extension ClassCounts {
    /// Whether nothing is still to be done or found out.
    var isSettled: Bool {
        listed == 0 && undetermined == 0 && unknownChain == 0 && damaged == 0
    }

    subscript(_ walletClass: WalletClass) -> UInt64 {
        get {
            switch walletClass {
            case .inLedger: inLedger
            case .listed: listed
            case .orphaned: orphaned
            case .undetermined: undetermined
            case .unknownChain: unknownChain
            }
        }
        set {
            switch walletClass {
            case .inLedger: inLedger = newValue
            case .listed: listed = newValue
            case .orphaned: orphaned = newValue
            case .undetermined: undetermined = newValue
            case .unknownChain: unknownChain = newValue
            }
        }
    }
}
