import AuthorityMessages
import Loop
import Secrets
import Serving
import SharesMessages
import TestKit
import Tokens
import VaultMessages
import Wire

/// What a device does about shares, and how it judges what it is told.
extension Device {
    private static let services: [ServiceName] = [.walletVault, .backupShares]

    func workOnShares() async {
        guard let circle = person.circle else { return }
        while circle.next != nil, choices.chance(percent: 80) { await addHolder(circle) }
        switch choices.number(in: 1...100) {
        case 1...35: await split(circle)
        case 36...45: await listSplits(circle)
        case 46...55: await beginRestoration(circle)
        case 56...85: await restore(circle)
        case 86...90: await listRestorations(circle)
        case 91...95: await listRestored(circle)
        default: await abandon(circle)
        }
    }

    // MARK: Splits

    private func addHolder(_ circle: Circle) async {
        guard let holder = circle.next,
            let token = await session(.settings, [.backupShares])
        else { return }
        await change(
            AddHolder(name: holder.name, publicKey: holder.publicKey), shares, token: token
        ) { made, _ in
            if made == true { circle.added.insert(holder.name) }
        }
    }

    private func split(_ circle: Circle) async {
        if person.usable.isEmpty { await create() }
        guard let (_, wallet) = chosen(),
            let token = await session(.reveal(person.namespace, wallet), Self.services)
        else { return }
        let areAdded = circle.next == nil
        let request = SplitWallet(
            namespace: person.namespace, wallet: wallet, holders: circle.holders.map(\.name))
        let answer: Answer<SplitWallet>
        do throws(Refusal) {
            answer = try await ask(request, shares, token)
        } catch {
            if areAdded, error.code == SharesFault.noSuchHolder.rawValue {
                machine.promises.fail("a holder who was taken in is not there")
            }
            return
        }
        let manifest = answer.reply
        circle.note(manifest, answer.attachments.map { $0.bytes.withBytes { Array($0) } })
        guard choices.chance(percent: 85) else { return }
        await confirm(manifest, circle)
    }

    private func confirm(_ manifest: Manifest, _ circle: Circle) async {
        guard let token = await session(.resource(person.namespace), Self.services) else { return }
        let request = ConfirmSplit(
            namespace: person.namespace, split: manifest.split, files: manifest.shares.map(\.file))
        await change(request, shares, token: token) { [machine] made, _ in
            guard made == true else { return }
            machine.deeds[.split] += 1
            circle.confirm(manifest.split)
        }
    }

    private func listSplits(_ circle: Circle) async {
        guard let token = await session(.resource(person.namespace), Self.services) else { return }
        let confirmed = circle.confirmed
        let request = ListSplits(namespace: person.namespace)
        guard let answer = try? await ask(request, shares, token) else { return }
        judge(answer.reply.splits, confirmed)
    }

    private func judge(_ splits: [Manifest], _ confirmed: Set<SplitID>) {
        let listed = Set(splits.filter(\.confirmed).map(\.split))
        if !confirmed.isSubset(of: listed) {
            machine.promises.fail("a split that was told to be confirmed is not")
        }
    }

    // MARK: Restorations

    private func beginRestoration(_ circle: Circle) async {
        let namespace = person.restoredNamespace
        guard let token = await session(.resource(namespace), Self.services) else { return }
        await change(BeginRestoration(namespace: namespace), shares, token: token) { _, reply in
            if let reply { circle.note(reply) }
        }
    }

    private func restore(_ circle: Circle) async {
        let namespace = person.restoredNamespace
        if circle.usable.isEmpty { await beginRestoration(circle) }
        guard let id = choices.pick(circle.usable), let restoration = circle.restorations[id],
            let name = restoration.split ?? choices.pick(circle.splitNames),
            let split = circle.splits[name],
            let token = await session(.resource(namespace), Self.services)
        else { return }
        let isKnown = choices.chance(percent: 85)
        let wallet = split.manifest.wallet
        let request = RestoreWallet(
            namespace: namespace, restoration: id, label: "restored",
            expected: isKnown ? wallet.identity : nil)
        circle.use(id, for: split)
        await change(
            request, shares, token: token,
            attachments: circle.release(split, for: restoration.description, choices).map {
                secret($0)
            }
        ) { [machine] made, reply in
            guard let made else { return }
            var isInstalled = made
            switch reply {
            case .unusable?:
                machine.promises.fail("sound shares are called unusable")
                isInstalled = false
            case .unconfirmed?: isInstalled = false
            case .installed?, .installedEarlier?, nil: break
            }
            if isInstalled { machine.deeds[.restoration] += 1 }
            circle.end(id, for: split, installed: isInstalled)
        }
    }

    private func abandon(_ circle: Circle) async {
        let namespace = person.restoredNamespace
        guard let id = choices.pick(circle.usable),
            let token = await session(.resource(namespace), Self.services)
        else { return }
        circle.believe(.unsure, of: id)
        await change(
            AbandonRestoration(namespace: namespace, restoration: id), shares, token: token
        ) { made, _ in
            if made == true { circle.believe(.over, of: id) }
        }
    }

    private func listRestorations(_ circle: Circle) async {
        let namespace = person.restoredNamespace
        guard let token = await session(.resource(namespace), Self.services) else { return }
        let before = circle.restorations
        let request = ListRestorations(namespace: namespace)
        guard let answer = try? await ask(request, shares, token) else { return }
        judge(answer.reply.restorations, before, circle)
    }

    /// One that was begun and not used is there with its key; one that is over is not.
    private func judge(
        _ listed: [RestorationDescription], _ before: [RestorationID: Circle.Restoration],
        _ circle: Circle
    ) {
        for (id, restoration) in before
        where circle.restorations[id]?.version == restoration.version {
            let found = listed.first { $0.restoration == id }
            switch restoration.belief {
            case .open where found != restoration.description:
                machine.promises.fail("a restoration that was begun is not as it was")
            case .over where found != nil:
                machine.promises.fail("a restoration that is over is listed")
            default: break
            }
        }
    }

    // MARK: What was restored

    private func listRestored(_ circle: Circle) async {
        let namespace = person.restoredNamespace
        guard let token = await session(.resource(namespace)) else { return }
        let (before, version) = (circle.restored, circle.version)
        let request = ListWallets(namespace: namespace)
        guard let answer = try? await ask(request, vault, token) else { return }
        judge(answer.reply.wallets, before, isSettled: version == circle.version)
    }

    /// None twice; what was told to be restored is there, and what was told not to be is not.
    private func judge(
        _ wallets: [WalletDescription], _ restored: [[UInt8]: Circle.Restored], isSettled: Bool
    ) {
        for (identity, state) in restored {
            let count = wallets.count { $0.identity == identity }
            if count > 1 { machine.promises.fail("a wallet was restored twice") }
            if state.isThere, count == 0 {
                machine.promises.fail("a wallet that was told to be restored is not there")
            }
            if !state.isThere, state.open == 0, isSettled, count > 0 {
                machine.promises.fail("a wallet was restored, which was told not to be")
            }
        }
        for wallet in wallets where restored[wallet.identity] == nil && isSettled {
            machine.promises.fail("a wallet was restored that nobody restored")
        }
    }

    // MARK: When all is over

    /// Confirmed splits are there, what was restored is as it was told, and a confirmed split
    /// restores its wallet once more.
    func auditShares(_ code: String) async {
        guard let circle = person.circle else { return }
        let main = person.namespace
        let restored = person.restoredNamespace
        // Each with a session of its own moment: a late copy of a request may end one.
        guard let token = await certainSession(code, .resource(main), Self.services),
            let splits = await insist(on: ListSplits(namespace: main), shares, token)?.splits,
            let other = await certainSession(code, .resource(restored), Self.services),
            let begun = await insist(on: ListRestorations(namespace: restored), shares, other)
        else { return }
        judge(splits, circle.confirmed)
        judge(begun.restorations, circle.restorations, circle)
        guard let wallets = await allWallets(in: restored, other) else { return }
        judge(wallets, circle.restored, isSettled: true)
        await drill(code, circle)
    }

    /// Restores a confirmed split into a namespace of its own.
    private func drill(_ code: String, _ circle: Circle) async {
        let namespace = person.drillNamespace
        let confirmed = circle.splitNames.filter { circle.splits[$0]?.isConfirmed == true }
        guard let split = choices.pick(confirmed).flatMap({ circle.splits[$0] }),
            let token = await certainSession(code, .resource(namespace), Self.services)
        else { return }
        var begun: RestorationDescription?
        await change(BeginRestoration(namespace: namespace), shares, token: token) { _, reply in
            begun = begun ?? reply
        }
        guard let begun else { return machine.promises.fail("no restoration can be begun") }
        let request = RestoreWallet(
            namespace: namespace, restoration: begun.restoration, label: "drill",
            expected: split.manifest.wallet.identity)
        var isInstalled = false
        await change(
            request, shares, token: token,
            attachments: circle.release(split, for: begun, choices).map { secret($0) }
        ) { _, reply in
            if case .installed? = reply { isInstalled = true }
        }
        if !isInstalled { machine.promises.fail("a confirmed split does not restore its wallet") }
    }
}
