import AuthorityMessages
import Glibc
import HDKeys
import Home
import MigrationMessages
import TestKit
import Tokens
import VaultMessages
import Wire

/// A person with a legacy keychain on the machine, and real services to take it in.
final class Migrant {
    let home: TestHome
    let client: Client
    let path: SourcePath
    let dash = Namespace("dash.mainnet") ?? { preconditionFailure("the name is in the form") }()

    init(_ keychain: [UInt8], in home: TestHome? = nil) throws {
        self.home = try home ?? TestHome()
        client = try self.home.newClient("app", owners: .all)
        path = try known(SourcePath(self.home.home.path + "/keychain"))
        TestFile.write(keychain, to: path.text)
        try client.setPasscode("1234")
    }

    convenience init(_ keychain: TestKeychain, _ format: TestKeychain.Format = .binary) throws {
        try self.init(keychain.bytes(format))
    }

    func token(
        _ scope: Scope? = nil, audience: [ServiceName] = [.walletVault, .migration]
    ) throws -> [UInt8] {
        try known(client.unlock("1234", scope: scope ?? .resource(dash), audience: audience))
    }

    // MARK: Runs

    func begin(
        _ network: WalletNetwork = .mainnet, again: Bool = false, token: [UInt8]? = nil
    ) throws -> MigrationRunID {
        let request = ApplyMigration(
            source: path, network: network, namespace: dash, again: again)
        return try client.call(request, token: token ?? self.token()).reply.run
    }

    func follow(_ run: MigrationRunID) throws -> RunProgress {
        try client.call(FollowRun(run: run)).reply
    }

    /// Waits until a run has done some wallets, or is over.
    @discardableResult
    func wait(for run: MigrationRunID, done count: UInt64 = .max) throws -> RunProgress {
        while true {
            let progress = try follow(run)
            guard progress.state == .running, progress.done < count else { return progress }
            // Asking too often would be work that the run's own has to share the cores with.
            usleep(count == .max ? 20_000 : 1_000)
        }
    }

    func apply(
        _ network: WalletNetwork = .mainnet, again: Bool = false
    ) throws -> RunProgress {
        try wait(for: begin(network, again: again))
    }

    /// Begins as often as it takes until every wallet of the network was looked at.
    func applyUntilFinished() throws -> RunProgress {
        for _ in 0..<20 {
            let progress = try apply()
            if progress.state == .finished { return progress }
            usleep(200_000)
        }
        throw TestError("no run came to its end")
    }

    func verify(_ network: WalletNetwork = .mainnet) throws -> RunProgress {
        let request = VerifyMigration(source: path, network: network, namespace: dash)
        return try wait(for: client.call(request, token: token()).reply.run)
    }

    // MARK: What stands

    func plan() throws -> PlanMigration.Reply {
        try client.call(PlanMigration(source: path)).reply
    }

    func status(of owner: Owner = local) throws -> AskMigrationStatus.Reply {
        try client.call(AskMigrationStatus(), owner: owner).reply
    }

    /// The identities in the vault, each as often as it is there, sorted.
    func identities(owner: Owner = local, token: [UInt8]? = nil) throws -> [[UInt8]] {
        let token = try token ?? self.token()
        var found: [WalletDescription] = []
        var more = true
        while more {
            let request = ListWallets(namespace: dash, after: found.last?.wallet)
            let page = try client.call(request, owner: owner, token: token).reply
            found += page.wallets
            more = page.more
        }
        return found.map(\.identity).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// What a service wrote on standard error.
    func log(of service: ServiceName) -> String {
        String(
            decoding: TestFile.contents(of: home.home.path + "/\(service.text).log"),
            as: UTF8.self)
    }
}
