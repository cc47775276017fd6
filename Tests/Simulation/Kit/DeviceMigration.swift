import AuthorityMessages
import Loop
import MigrationMessages
import Serving
import TestKit
import Tokens
import VaultMessages
import Wire

/// What a device does about its owner's legacy keychain, and how it judges what it is told.
extension Device {
    /// A run that it began, as far as it knows.
    struct BegunRun {
        let id: MigrationRunID
        let network: WalletNetwork
        let isVerification: Bool
    }

    private static let services: [ServiceName] = [.walletVault, .migration]

    func workOnMigration() async {
        guard let hoard = person.keychain else { return }
        let network: WalletNetwork = choices.chance(percent: 70) ? .mainnet : .testnet
        switch choices.number(in: 1...100) {
        case 1...45: await migrate(hoard, network)
        case 46...60: await follow(hoard, looks: 3)
        case 61...65: await stop()
        case 66...80: await listTaken(hoard, network)
        case 81...90: await verifyTaken(hoard, network)
        default: await plan(hoard)
        }
    }

    // MARK: Runs

    private func migrate(_ hoard: LegacyHoard, _ network: WalletNetwork) async {
        let namespace = person.namespace(of: network)
        guard let token = await session(.resource(namespace), Self.services) else { return }
        await change(
            ApplyMigration(source: hoard.path, network: network, namespace: namespace),
            migration, token: token
        ) { [self] _, reply in
            guard let reply else { return }
            run = BegunRun(id: reply.run, network: network, isVerification: false)
        }
        if choices.chance(percent: 70) { await follow(hoard, looks: 20) }
    }

    private func verifyTaken(_ hoard: LegacyHoard, _ network: WalletNetwork) async {
        let namespace = person.namespace(of: network)
        guard let token = await session(.resource(namespace), Self.services) else { return }
        let request = VerifyMigration(
            source: hoard.path, network: network, namespace: namespace)
        guard let answer = try? await ask(request, migration, token) else {
            return
        }
        run = BegunRun(id: answer.reply.run, network: network, isVerification: true)
        await follow(hoard, looks: 20)
    }

    private func stop() async {
        guard let run else { return }
        _ = try? await ask(StopRun(run: run.id), migration, [])
    }

    /// Looks now and then how far its run is, until that is over or enough was looked.
    @discardableResult
    private func follow(_ hoard: LegacyHoard, looks: Int) async -> RunProgress.State? {
        guard let run else { return nil }
        for _ in 0..<looks {
            let request = FollowRun(run: run.id)
            guard let answer = try? await ask(request, migration, []) else {
                return nil
            }
            judge(answer.reply, of: run, hoard)
            guard answer.reply.state == .running else { return answer.reply.state }
            await machine.timers.sleep(milliseconds: 200)
        }
        return .running
    }

    private func judge(_ progress: RunProgress, of run: BegunRun, _ hoard: LegacyHoard) {
        for failure in progress.failures
        where run.isVerification || !hoard.isUnsound(failure.id) {
            let what = run.isVerification ? "does not verify" : "is not taken in"
            let why = "\(failure.problem.text), \(failure.code ?? "no code")"
            machine.promises.fail("a sound legacy wallet \(what): \(why)")
        }
        if progress.settled, hoard.hasUnsound {
            machine.promises.fail("a keychain with unsound wallets is called settled")
        }
        guard progress.state == .finished else { return }
        machine.deeds[run.isVerification ? .verification : .migration] += 1
        if !run.isVerification { hoard.finished.insert(run.network) }
    }

    // MARK: What is there

    private func listTaken(_ hoard: LegacyHoard, _ network: WalletNetwork) async {
        let namespace = person.namespace(of: network)
        guard let token = await session(.resource(namespace)) else { return }
        let isFinished = hoard.finished.contains(network)
        let request = ListWallets(namespace: namespace)
        guard let answer = try? await ask(request, vault, token) else { return }
        judge(answer.reply.wallets, of: hoard, network, isFinished: isFinished)
    }

    /// None twice, none that is no sound one of the keychain; all, where that was told.
    private func judge(
        _ wallets: [WalletDescription], of hoard: LegacyHoard, _ network: WalletNetwork,
        isFinished: Bool
    ) {
        let sound = hoard.sound(network)
        for wallet in wallets where sound[wallet.label] != wallet.identity {
            machine.promises.fail("a wallet is in the vault that the keychain does not have")
        }
        if Set(wallets.map(\.label)).count != wallets.count {
            machine.promises.fail("a legacy wallet is in the vault twice")
        }
        if isFinished, wallets.count != sound.count {
            machine.promises.fail("a migration was told to be finished and wallets are missing")
        }
    }

    private func plan(_ hoard: LegacyHoard) async {
        let told = hoard.finished.reduce(0) { $0 + hoard.sound($1).count }
        let request = PlanMigration(source: hoard.path)
        guard let answer = try? await ask(request, migration, []) else { return }
        if answer.reply.counts.inLedger < UInt64(told) {
            machine.promises.fail("the ledger has fewer wallets than were told to be taken in")
        }
    }

    // MARK: When all is over

    /// Takes in what is left; then vault, ledger and source must have every sound phrase.
    func auditMigration(_ code: String) async {
        guard let hoard = person.keychain else { return }
        for network in WalletNetwork.allCases {
            let namespace = person.namespace(of: network)
            guard
                let token = await certainSession(code, .resource(namespace), Self.services),
                await runToEnd(hoard, network, token, isVerification: false),
                await runToEnd(hoard, network, token, isVerification: true),
                let wallets = await allWallets(in: namespace, token)
            else { return }
            judge(wallets, of: hoard, network, isFinished: true)
        }
        let total = WalletNetwork.allCases.reduce(0) { $0 + hoard.sound($1).count }
        let plan = await insist(on: PlanMigration(source: hoard.path), migration)
        if let plan, plan.counts.inLedger != UInt64(total) {
            machine.promises.fail("the ledger has \(plan.counts.inLedger) wallets of \(total)")
        }
        if !hoard.isUntouched { machine.promises.fail("a legacy keychain was changed") }
    }

    private func runToEnd(
        _ hoard: LegacyHoard, _ network: WalletNetwork, _ token: [UInt8], isVerification: Bool
    ) async -> Bool {
        let namespace = person.namespace(of: network)
        // A run that went on before may wait for the vault for a while.
        for _ in 0..<100 {
            run = nil
            if isVerification {
                let request = VerifyMigration(
                    source: hoard.path, network: network, namespace: namespace)
                let begun = try? await ask(request, migration, token).reply
                run = begun.map { BegunRun(id: $0.run, network: network, isVerification: true) }
            } else {
                let request = ApplyMigration(
                    source: hoard.path, network: network, namespace: namespace)
                await change(request, migration, token: token) { [self] _, reply in
                    guard let reply else { return }
                    run = BegunRun(id: reply.run, network: network, isVerification: false)
                }
            }
            if await follow(hoard, looks: 50) == .finished { return true }
            await machine.timers.sleep(milliseconds: 500)
        }
        let what = isVerification ? "verification" : "migration"
        machine.promises.fail("no \(what) comes to its end after all was mended")
        return false
    }
}
