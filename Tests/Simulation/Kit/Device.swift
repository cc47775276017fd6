import AuthorityMessages
import Loop
import Secrets
import Serving
import TestKit
import Tokens
import VaultMessages
import Wire

/// One client of an owner: does this and that, and judges the answers.
@ServiceLoop
final class Device {
    let person: Person
    let machine: SimulatedMachine
    /// Whether it is the first of its owner's.
    let isFirst: Bool
    private let choices: SeededRandom
    private let authority: ServiceClient
    private let vault: ServiceClient
    private var tokens: [Scope: [UInt8]] = [:]
    private(set) var acts = 0
    /// Changes whose outcome has not been told, by what to do when it is.
    private(set) var open: [OpenChange] = []

    /// A change of which it is not known whether it was made.
    struct OpenChange {
        let key: IdempotencyKey
        let service: ServiceName
        let settle: @ServiceLoop (Bool) -> Void
    }

    /// How long a request may take, in milliseconds.
    private static let patience: UInt64 = 4_000

    init(_ number: Int, of person: Person, on machine: SimulatedMachine, seed: UInt64) {
        self.person = person
        self.machine = machine
        isFirst = number == 1
        choices = SeededRandom(seed: seed)
        let key = Directory.key(ofDevice: number, of: person.number)
        let sender = SimulatedNetwork.Sender(peer: key)
        authority = machine.way(from: sender, to: .credentialAuthority)
        vault = machine.way(from: sender, to: .walletVault)
    }

    // MARK: A life

    func live(acts count: Int) async {
        for _ in 0..<count {
            await pause()
            acts += 1
            switch choices.number(in: 1...100) {
            case 1...10: await changePasscode()
            case 11...27: await tryWrong()
            case 28...30: await guess()
            case 31...45: await unlock()
            case 46...60: await create()
            case 61...70: await list()
            case 71...77: await check()
            case 78...84: await reveal()
            case 85...88: await sign()
            case 89...92: await remove()
            case 93...95: await lock()
            case 96...97: await revoke()
            case 98: await setPolicy()
            default: await settleOpen()
            }
        }
    }

    private func pause() async {
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
        ) { [person] made, _ in
            if let made { person.endChange(to: code, made: made) }
        }
        tokens = tokens.filter { _ in choices.chance(percent: 50) }
    }

    private func tryWrong() async {
        _ = await verify(newCode(), .appUnlock, [])
    }

    /// Tries wrong codes as fast as they go.
    private func guess() async {
        var left = choices.number(in: 7...12)
        for _ in 0..<left {
            ServiceLoop.start {
                await self.tryWrong()
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

    private func session(_ scope: Scope) async -> [UInt8]? {
        if let token = tokens[scope], choices.chance(percent: 85) { return token }
        let guesses = person.possible.compactMap { $0 }.sorted()
        guard let code = choices.pick(guesses) else { return nil }
        let audience: [ServiceName] = scope == .appUnlock ? [] : [.walletVault]
        guard case .verified(let token)? = await verify(code, scope, audience) else {
            return nil
        }
        // A proof is kept too: its second use must be refused.
        tokens[scope] = token
        return token
    }

    private func lock() async {
        _ = try? await authority.call(Lock(), options: options())
    }

    private func revoke() async {
        guard let token = tokens[.resource(person.namespace)] else { return }
        _ = try? await authority.call(Revoke(), options: options(token))
    }

    private func setPolicy() async {
        guard let token = await session(.settings) else { return }
        let policy: SignPolicy = choices.chance(percent: 50) ? .proof : .session
        await change(SetSignPolicy(policy: policy), authority, token: token) { _, _ in }
    }

    // MARK: Wallets

    private func create() async {
        guard person.wallets.count < 6,
            let token = await session(.resource(person.namespace))
        else { return }
        let label = person.newLabel()
        await change(
            CreateWallet(namespace: person.namespace, label: label, words: 12), vault, token: token
        ) { [person] made, reply in
            switch made {
            case true?: person.believe(.there, of: label, id: reply?.wallet)
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
        ) { [person] made, _ in
            if let made { person.believe(made ? .notThere : .there, of: label) }
        }
    }

    private func list() async {
        guard let token = await session(.resource(person.namespace)) else { return }
        let before = person.wallets
        guard
            let answer = try? await vault.call(
                ListWallets(namespace: person.namespace), options: options(token))
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
        person.noteShown(phrase, of: label)
    }

    private func sign() async {
        guard let (label, id) = chosen(), let token = await session(.sign(person.namespace, id))
        else { return }
        await judged(
            SignWithWallet(
                namespace: person.namespace, wallet: id, scheme: .ed25519, path: "m/0'"),
            token, label, attachments: [secret("message")])
    }

    private func chosen() -> (String, WalletID)? {
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
            return try await vault.call(
                request, options: options(token), attachments: attachments)
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

    // MARK: Changes

    /// Makes a change, repeats it now and then under the same key, and learns what became of it.
    private func change<R: Request>(
        _ request: R, _ client: ServiceClient, token: [UInt8], attachments: [SharedSecret] = [],
        settle: @escaping @ServiceLoop (Bool?, R.Reply?) -> Void
    ) async {
        guard let key = IdempotencyKey(choices.bytes(IdempotencyKey.byteCount)) else { return }
        for _ in 0..<choices.number(in: 1...3) {
            do throws(Refusal) {
                let answer = try await client.call(
                    request, options: options(token, key: key), attachments: attachments)
                return settle(true, answer.reply)
            } catch {
                // That it was refused now says nothing of an earlier try under the same key; the
                // outcome does.
                if error.outcome == .rejected, error.code != "session.ended",
                    error.code != "session.invalid"
                {
                    break
                }
            }
        }
        let service: ServiceName = client === vault ? .walletVault : .credentialAuthority
        let change = OpenChange(key: key, service: service) { settle($0, nil) }
        if let made = await outcome(of: change) {
            change.settle(made)
        } else {
            open.append(change)
            settle(nil, nil)
        }
    }

    /// Whether a change was made, as its service says; nil where it does not.
    func outcome(of change: OpenChange) async -> Bool? {
        let status: OutcomeStatus?
        switch change.service {
        case .walletVault:
            status = try? await vault.call(
                AskOutcome<Vault>(key: change.key), options: options()
            ).reply.status
        default:
            status = try? await authority.call(
                AskOutcome<Authority>(key: change.key), options: options()
            ).reply.status
        }
        switch status {
        case .done?: return true
        case .rejected?: return false
        case .inFlight?, nil: return nil
        }
    }

    func settleOpen() async {
        for change in open {
            guard let made = await outcome(of: change) else { continue }
            open.removeAll { $0.key == change.key }
            change.settle(made)
        }
    }

    // MARK: Asking

    private func options(_ token: [UInt8] = [], key: IdempotencyKey? = nil) -> CallOptions {
        CallOptions(
            owner: person.owner, token: token, timeoutMilliseconds: Self.patience,
            idempotency: key)
    }

    private func secret(_ text: String) -> SharedSecret {
        SharedSecret(SecretBytes(copying: Array(text.utf8)))
    }

    // MARK: When all is over

    /// Looks whether everything is as it was told.
    func audit() async {
        for _ in 0..<20 where !open.isEmpty {
            await settleOpen()
            await machine.timers.sleep(milliseconds: 500)
        }
        if !open.isEmpty { machine.promises.fail("an outcome is not told after all was mended") }
    }

    /// The one passcode that works is one that was told; every wallet is as it was told.
    func auditStores() async {
        guard let right = await findPasscode() else { return }
        guard
            case .verified(let token)? = await patiently({
                await self.verify(right, .resource(self.person.namespace), [.walletVault])
            })
        else { return machine.promises.fail("the passcode opens no session after all was mended") }
        let before = person.wallets
        var listed: [WalletDescription]?
        var refusals: [String] = []
        for _ in 0..<10 where listed == nil {
            do throws(Refusal) {
                listed = try await vault.call(
                    ListWallets(namespace: person.namespace), options: options(token)
                ).reply.wallets
            } catch {
                refusals.append(error.code)
            }
            await machine.timers.sleep(milliseconds: 300)
        }
        guard let listed else {
            return machine.promises.fail("wallets cannot be listed: \(refusals)")
        }
        judge(listed, before)
        for wallet in listed {
            var refusals: [String] = []
            for _ in 0..<10 {
                do throws(Refusal) {
                    _ = try await vault.call(
                        CheckWallet(namespace: person.namespace, wallet: wallet.wallet),
                        options: options(token))
                    refusals = []
                    break
                } catch {
                    refusals.append(error.code)
                    await machine.timers.sleep(milliseconds: 300)
                }
            }
            if let last = refusals.last { machine.promises.fail("a wallet does not open: \(last)") }
        }
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
