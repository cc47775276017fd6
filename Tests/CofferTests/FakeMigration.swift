import AuthorityMessages
import MigrationMessages
import Tokens
import VaultMessages
import Wire

@testable import CofferCore

/// A migration that tells what a test says, and remembers the runs that were begun.
final class FakeMigration {
    /// A run: what is said each time when it is asked after; the last is said for ever.
    typealias Script = [RunProgress]

    struct Begun: Equatable {
        let method: String
        let network: WalletNetwork
        let namespace: String
        let token: String
        /// Nil for a verification.
        let again: Bool?
    }

    var wallets: [PlanMigration.Reply.Wallet]
    var launch: LaunchState = .pending
    var pageSize = 500
    /// Of the runs, in their order; the last is that of all later ones.
    var scripts: [Script] = [[.finished(1)]]
    var status = AskMigrationStatus.Reply(sources: [], mainnet: 0, testnet: 0, running: nil)
    private(set) var begun: [Begun] = []
    private(set) var pages = 0
    private(set) var sources: [String] = []
    /// What happens each time when a run is asked after.
    var onFollow: () -> Void = {}
    /// Rows that cannot be read.
    var damaged: UInt64 = 0
    /// Wallets that lists name and the source has no phrase of.
    var phraseless: UInt64 = 0
    /// Rows of the legacy app.
    var rows: UInt64 = 1
    /// Whether a run leaves what the vault lost as it is.
    var keepsMissing = false
    /// The namespaces into which wallets of the ledger were taken; dash.mainnet for the rest.
    var namespaces: [String] = []
    /// Another digest for each page.
    var changes = false

    private var current: Script = []
    private let fixture: Fixture

    init(_ fixture: Fixture, _ reasons: ClassReason...) {
        self.fixture = fixture
        wallets = reasons.enumerated().map { .init(id: "id\($0)", reason: $1) }
        // Nobody locked the owner.
        var standing = Fixture.status()
        standing.unlocked = true
        fixture.services.on(AskStatus.self) { [standing] _, _ in Answer(standing) }
        fixture.services.on(PlanMigration.self) { [unowned self] request, _ in Answer(page(request))
        }
        fixture.services.on(AskMigrationStatus.self) { [unowned self] _, _ in Answer(status) }
        fixture.services.on(ApplyMigration.self) { [unowned self] request, token in
            Answer(begin(request, token))
        }
        fixture.services.on(VerifyMigration.self) { [unowned self] request, token in
            Answer(begin(request, token))
        }
        fixture.services.on(FollowRun.self) { [unowned self] _, _ in Answer(try follow()) }
        fixture.services.on(StopRun.self) { [unowned self] _, _ in
            let last = current.first ?? .finished(0)
            current = [.stopped(last.done, of: last.total)]
            return Answer(Empty())
        }
    }

    /// The wallets are settled when they are asked for next.
    func settle() { wallets = wallets.map { .init(id: $0.id, reason: .inLedger) } }

    var counts: ClassCounts {
        var counts = ClassCounts(damaged: damaged, phraseless: phraseless)
        for wallet in wallets {
            switch wallet.reason.walletClass {
            case .inLedger: counts.inLedger += 1
            case .listed: counts.listed += 1
            case .orphaned: counts.orphaned += 1
            case .undetermined: counts.undetermined += 1
            case .unknownChain: counts.unknownChain += 1
            }
            if wallet.reason == .missing { counts.missing += 1 }
        }
        return counts
    }

    var digest: [UInt8] { [UInt8](repeating: changes ? UInt8(pages) : 0xAB, count: 32) }

    private func page(_ request: PlanMigration) -> PlanMigration.Reply {
        pages += 1
        sources.append(request.source.text)
        let start = wallets.firstIndex { $0.id == request.after }.map { $0 + 1 } ?? 0
        let page = Array(wallets[start...].prefix(pageSize))
        return PlanMigration.Reply(
            digest: digest, launch: launch, rows: rows, counts: counts, places: places,
            wallets: page, more: start + page.count < wallets.count)
    }

    private var places: [PlanMigration.Reply.Place] {
        var counted: [String: UInt64] = [:]
        for place in 0..<Int(counts.inLedger) {
            counted[place < namespaces.count ? namespaces[place] : "dash.mainnet", default: 0] += 1
        }
        return counted.sorted { $0.key < $1.key }.compactMap { name, wallets in
            Namespace(name).map { .init(network: .mainnet, namespace: $0, wallets: wallets) }
        }
    }

    private func begin(_ request: some RunRequest, _ token: [UInt8]) -> RunBegun {
        begun.append(
            Begun(
                method: type(of: request).method, network: request.network,
                namespace: request.namespace.text, token: String(decoding: token, as: UTF8.self),
                again: (request as? ApplyMigration)?.again))
        current = scripts.count > 1 ? scripts.removeFirst() : scripts[0]
        return RunBegun(run: Self.run)
    }

    private func follow() throws -> RunProgress {
        onFollow()
        guard let progress = current.first else { throw MigrationFault.noSuchRun.refusal }
        if progress.state == .finished, !keepsMissing, progress != .stuck {
            settleListed(progress)
        }
        if current.count > 1 { current.removeFirst() }
        return progress
    }

    /// What a run took in is in the ledger afterwards.
    private func settleListed(_ progress: RunProgress) {
        let failed = Set(progress.failures.map(\.id))
        let reasons = [begun.last?.network.listedReason, .missing]
        wallets = wallets.map {
            reasons.contains($0.reason) && !failed.contains($0.id)
                ? .init(id: $0.id, reason: .inLedger) : $0
        }
    }

    static let running = AskMigrationStatus.Reply.Running(
        run: run, isVerification: false, network: .mainnet, path: "/legacy/keychain.plist",
        began: 1_790_000_100)

    static let run: MigrationRunID = {
        guard let id = MigrationRunID([UInt8](repeating: 7, count: 16)) else {
            preconditionFailure("16 bytes")
        }
        return id
    }()
}

extension RunProgress {
    /// A run that found nothing to do.
    static let stuck = finished(0)

    static func running(_ done: UInt64, of total: UInt64) -> RunProgress {
        of(.running, done, total)
    }

    static func finished(_ total: UInt64, failures: [Failure] = []) -> RunProgress {
        var progress = of(.finished, total, total)
        progress.succeeded = total - UInt64(failures.count)
        progress.failed = UInt64(failures.count)
        progress.failures = failures
        return progress
    }

    static func stopped(_ done: UInt64, of total: UInt64) -> RunProgress {
        of(.stopped, done, total)
    }

    static func failed(_ code: String, _ done: UInt64, of total: UInt64) -> RunProgress {
        of(.failed(code: code), done, total)
    }

    private static func of(_ state: State, _ done: UInt64, _ total: UInt64) -> RunProgress {
        RunProgress(
            state: state, done: done, total: total, succeeded: done, counts: ClassCounts(),
            settled: false, failed: 0, failures: [])
    }
}
