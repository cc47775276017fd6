import AuthorityMessages
import Loop
import MigrationMessages
import Secrets
import Serving
import SharesMessages
import TestKit
import Tokens
import VaultMessages
import Wire

/// One client of an owner: does this and that, and judges the answers.
@ServiceLoop
final class Device: Client {
    let person: Person
    /// Whether it is the first of its owner's.
    let isFirst: Bool
    private var tokens: [Leave: [UInt8]] = [:]
    /// The run of a migration that it began last.
    var run: BegunRun?
    private(set) var acts = 0

    /// What a session is for, and the services that take it.
    private struct Leave: Hashable {
        let scope: Scope
        let audience: [ServiceName]
    }

    init(_ number: Int, of person: Person, on machine: SimulatedMachine, seed: UInt64) {
        self.person = person
        isFirst = number == 1
        super.init(
            Directory.key(ofDevice: number, of: person.number), of: person.owner, on: machine,
            seed: seed)
    }

    override func drop(_ token: [UInt8]) { tokens = tokens.filter { $0.value != token } }

    // MARK: A life

    func live(acts count: Int) async {
        for _ in 0..<count {
            await pause()
            acts += 1
            // Without a passcode there is little to do.
            if person.possible == [nil], choices.chance(percent: 80) {
                await changePasscode()
                continue
            }
            if person.circle != nil, choices.chance(percent: 35) {
                await workOnShares()
                continue
            }
            if person.keychain != nil, choices.chance(percent: 25) {
                await workOnMigration()
                continue
            }
            if person.hasToken, choices.chance(percent: 12) {
                await workOnToken()
                continue
            }
            switch choices.number(in: 1...100) {
            case 1...12: await changePasscode()
            case 13...24: await tryWrong()
            case 25...27: await guess()
            case 28...40: await unlock()
            case 41...56: await create()
            case 57...64: await list()
            case 65...71: await check()
            case 72...78: await reveal()
            case 79...82: await sign()
            case 83...86: await remove()
            case 87...89: await lock()
            case 90...91: await revoke()
            case 92: await setPolicy()
            case 93...98: await race()
            default: await settleOpen()
            }
        }
    }

    func pause() async {
        let milliseconds = choices.chance(percent: 70) ? 0...50 : 0...20_000
        await machine.timers.sleep(milliseconds: UInt64(choices.number(in: milliseconds)))
    }

    // MARK: The passcode

    private func newCode() -> String { "code-\(person.number)-\(choices.next() % 1_000_000_007)" }

    private func changePasscode() async {
        guard !person.isChanging else { return }
        let code = newCode()
        var token: [UInt8] = []
        if let known = person.certain {
            guard case .verified(let fresh)? = await verify(known, .managePasscode, []) else {
                return
            }
            token = fresh
        } else if person.possible != [nil] {
            return await unlock()
        }
        guard !person.isChanging else { return }
        machine.promises.expect(code, of: person.owner)
        person.beginChange(to: code)
        await change(
            SetPasscode(passcodeKind: .alphanumeric), authority, token: token,
            attachments: [secret(code)]
        ) { [person, machine] made, _ in
            if let made { person.endChange(to: code, made: made) }
            if made == true { machine.deeds[.passcode] += 1 }
        }
        tokens = tokens.filter { _ in choices.chance(percent: 50) }
    }

    private func tryWrong() async {
        _ = await verify(newCode(), .appUnlock, [])
    }

    /// Tries wrong codes as fast as they go, and sometimes the right one among them.
    private func guess() async {
        var left = choices.number(in: 7...12)
        let place = choices.chance(percent: 50) ? choices.number(in: 0...5) : left
        for number in 0..<left {
            ServiceLoop.start {
                if number == place, let right = self.person.certain {
                    _ = await self.verify(right, .appUnlock, [])
                } else {
                    await self.tryWrong()
                }
                left -= 1
            }
        }
        while left > 0 { await machine.timers.sleep(milliseconds: 100) }
    }

    private func unlock() async { _ = await session(.resource(person.namespace)) }

    enum Verdict {
        case verified([UInt8])
        case wrong
        case coolingDown(UInt64)
    }

    /// Tries a code and judges the answer by what is known.
    func verify(
        _ code: String, _ scope: Scope, _ audience: [ServiceName]
    ) async -> Verdict? {
        let version = person.passcodeVersion
        let isChanging = person.isChanging
        let certain = person.certain
        let answer: Answer<Verify>
        do throws(Refusal) {
            answer = try await authority.call(
                Verify(scope: scope, audience: audience), options: options(),
                attachments: [secret(code)])
        } catch {
            return nil
        }
        let isSettled =
            version == person.passcodeVersion && !isChanging && !person.isChanging
        switch answer.reply {
        case .verified:
            if !person.possible.contains(code), isSettled {
                machine.promises.fail("\(code) was taken and is no passcode of its owner")
            }
            if isSettled { person.learn(code) }
            machine.deeds[.session] += 1
            return answer.attachments.first.map { .verified($0.bytes.withBytes { Array($0) }) }
        case .wrong:
            if isSettled, certain == code {
                machine.promises.fail("the passcode that was told to be set was called wrong")
            }
            return .wrong
        case .coolingDown(let remaining, _):
            return .coolingDown(remaining)
        }
    }

    /// A token for a scope, kept or new.
    ///
    /// - Parameter services: those that take it; none for what only the authority takes.
    func session(
        _ scope: Scope, _ services: [ServiceName] = [.walletVault]
    ) async -> [UInt8]? {
        let audience: [ServiceName] = scope == .appUnlock ? [] : services
        let leave = Leave(scope: scope, audience: audience)
        if let token = tokens[leave], choices.chance(percent: 85) { return token }
        if case .resource = scope, person.route.possible.contains(true),
            choices.chance(percent: 50), let token = await tokenSession(scope, audience)
        {
            tokens[leave] = token
            return token
        }
        let guesses = person.possible.compactMap { $0 }.sorted()
        guard let code = choices.pick(guesses) else { return nil }
        var verdict = await verify(code, scope, audience)
        if case .coolingDown(let remaining)? = verdict, choices.chance(percent: 60) {
            await machine.timers.sleep(milliseconds: remaining + 1)
            verdict = await verify(code, scope, audience)
        }
        guard case .verified(let token)? = verdict else { return nil }
        // A proof is kept too: its second use must be refused.
        tokens[leave] = token
        return token
    }

    private func lock() async {
        _ = try? await authority.call(Lock(), options: options())
    }

    private func revoke() async {
        let scope = Scope.resource(person.namespace)
        guard let token = tokens[Leave(scope: scope, audience: [.walletVault])] else { return }
        _ = try? await ask(Revoke(), authority, token)
    }

    /// Works while the session for it is taken away.
    private func race() async {
        guard await session(.resource(person.namespace)) != nil else { return }
        var left = choices.number(in: 1...3)
        for _ in 0..<left {
            let kind = choices.number(in: 1...3)
            ServiceLoop.start {
                switch kind {
                case 1: await self.create()
                case 2: await self.check()
                default: await self.list()
                }
                left -= 1
            }
        }
        // Time passes only when nothing else can happen: what is to happen meanwhile waits steps.
        for _ in 0..<choices.number(in: 0...30) { await Task.yield() }
        switch choices.number(in: 1...4) {
        case 1...2: await lock()
        case 3: await revoke()
        default: await changePasscode()
        }
        while left > 0 { await machine.timers.sleep(milliseconds: 100) }
    }

    private func setPolicy() async {
        guard let token = await session(.settings) else { return }
        let policy: SignPolicy = choices.chance(percent: 50) ? .proof : .session
        await change(SetSignPolicy(policy: policy), authority, token: token) { _, _ in }
    }

    // MARK: Wallets

    func create() async {
        guard person.wallets.values.count(where: { $0.belief != .notThere }) < 6,
            let token = await session(.resource(person.namespace))
        else { return }
        let label = person.newLabel()
        await change(
            CreateWallet(namespace: person.namespace, label: label, words: 12), vault, token: token
        ) { [person, machine] made, reply in
            switch made {
            case true?:
                machine.deeds[.wallet] += 1
                person.believe(.there, of: label, id: reply?.wallet)
            case false?: person.believe(.notThere, of: label)
            case nil: break
            }
        }
    }

    private func remove() async {
        guard let label = choices.pick(person.usable), let id = person.wallets[label]?.id,
            let token = await session(.settings), person.wallets[label]?.belief == .there
        else { return }
        person.believe(.unsure, of: label)
        await change(
            RemoveWallet(namespace: person.namespace, wallet: id), vault, token: token
        ) { [person, machine] made, _ in
            if made == true { machine.deeds[.removal] += 1 }
            if let made { person.believe(made ? .notThere : .there, of: label) }
        }
    }

    private func list() async {
        guard let token = await session(.resource(person.namespace)) else { return }
        let before = person.wallets
        guard
            let answer = try? await ask(ListWallets(namespace: person.namespace), vault, token)
        else { return }
        judge(answer.reply.wallets, before)
    }

    /// Compares a list with what was believed before it was asked for and is believed still.
    func judge(_ wallets: [WalletDescription], _ before: [String: Person.Wallet]) {
        for (label, wallet) in person.wallets where wallet.version == before[label]?.version {
            let count = wallets.count { $0.label == label }
            switch wallet.belief {
            case .there where count != 1:
                machine.promises.fail("a wallet that was acknowledged is listed \(count) times")
            case .notThere where count != 0:
                machine.promises.fail("a wallet that is said not to be there is listed")
            default: break
            }
        }
        for wallet in wallets {
            guard person.wallets[wallet.label] != nil else {
                machine.promises.fail("a wallet of somebody else is listed")
                continue
            }
            if person.wallets[wallet.label]?.id == nil {
                person.believe(
                    person.wallets[wallet.label]?.belief ?? .unsure, of: wallet.label,
                    id: wallet.wallet)
            }
        }
    }

    private func check() async {
        guard let (label, id) = chosen(), let token = await session(.resource(person.namespace))
        else { return }
        await judged(CheckWallet(namespace: person.namespace, wallet: id), token, label)
    }

    private func reveal() async {
        guard let (label, id) = chosen(),
            let token = await session(.reveal(person.namespace, id))
        else { return }
        let answer = await judged(
            RevealWallet(namespace: person.namespace, wallet: id), token, label)
        guard let phrase = answer?.attachments.first?.bytes.withBytes({ Array($0) }) else { return }
        if let shown = person.wallets[label]?.shown, shown != phrase {
            machine.promises.fail("a wallet shows another phrase than before")
        }
        machine.deeds[.phrase] += 1
        person.noteShown(phrase, of: label)
    }

    private func sign() async {
        guard let (label, id) = chosen(), let token = await session(.sign(person.namespace, id))
        else { return }
        let answer = await judged(
            SignWithWallet(
                namespace: person.namespace, wallet: id, scheme: .ed25519, path: "m/0'"),
            token, label, attachments: [secret("message")])
        if answer != nil { machine.deeds[.signature] += 1 }
    }

    func chosen() -> (String, WalletID)? {
        guard let label = choices.pick(person.usable), let id = person.wallets[label]?.id else {
            return nil
        }
        return (label, id)
    }

    @discardableResult
    private func judged<R: Request>(
        _ request: R, _ token: [UInt8], _ label: String, attachments: [SharedSecret] = []
    ) async -> Answer<R>? {
        let version = person.wallets[label]?.version
        let isThere = person.wallets[label]?.belief == .there
        do throws(Refusal) {
            return try await ask(request, vault, token, attachments: attachments)
        } catch {
            let isDamage =
                ["vault.no_such_wallet", "vault.envelope_damaged"].contains(error.code)
                || error.code == "vault.identity_mismatch"
            if isDamage, isThere, version == person.wallets[label]?.version {
                machine.promises.fail("a wallet that was acknowledged: \(error.code)")
            }
            return nil
        }
    }

    // MARK: When all is over

    /// The one passcode that works is one that was told; every wallet is as it was told.
    func auditStores() async {
        guard let right = await findPasscode(),
            let token = await certainSession(
                right, .resource(person.namespace), [.walletVault])
        else { return }
        let before = person.wallets
        guard let listed = await allWallets(in: person.namespace, token) else { return }
        judge(listed, before)
        if person.hasToken { await auditToken() }
        if person.keychain != nil { await auditMigration(right) }
        if person.circle != nil { await auditShares(right) }
    }

    /// Lists a namespace and lets the vault open whatever is there; for when nothing breaks.
    func allWallets(in namespace: Namespace, _ token: [UInt8]) async -> [WalletDescription]? {
        let request = ListWallets(namespace: namespace)
        guard let listed = await insist(on: request, vault, token)?.wallets else { return nil }
        for wallet in listed {
            let request = CheckWallet(namespace: namespace, wallet: wallet.wallet)
            guard await insist(on: request, vault, token) != nil else { break }
        }
        return listed
    }

    /// A session under the right passcode; for when nothing breaks.
    func certainSession(
        _ code: String, _ scope: Scope, _ audience: [ServiceName]
    ) async -> [UInt8]? {
        let verdict = await patiently { await self.verify(code, scope, audience) }
        guard case .verified(let token)? = verdict else {
            machine.promises.fail("the passcode opens no session after all was mended")
            return nil
        }
        return token
    }

    private func findPasscode() async -> String? {
        let candidates = person.possible.compactMap { $0 }.sorted()
        var right: [String] = []
        for code in candidates {
            if case .verified? = await patiently({ await self.verify(code, .appUnlock, []) }) {
                right.append(code)
            }
        }
        if right.isEmpty, !person.possible.contains(nil) {
            machine.promises.fail("no passcode that was told opens anything")
        }
        if right.count > 1 { machine.promises.fail("two passcodes work") }
        return right.first
    }

    /// Waits out every wait.
    private func patiently(_ body: @ServiceLoop () async -> Verdict?) async -> Verdict? {
        for _ in 0..<10 {
            switch await body() {
            case .coolingDown(let remaining)?:
                await machine.timers.sleep(milliseconds: remaining + 1)
            case let verdict?: return verdict
            case nil: await machine.timers.sleep(milliseconds: 500)
            }
        }
        return nil
    }
}
