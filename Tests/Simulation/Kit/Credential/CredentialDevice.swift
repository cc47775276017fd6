import AuthorityMessages
import Loop
import Secrets
import Serving
import TestKit
import Tokens
import VaultMessages
import Wire

/// One client of an owner, who changes his credential more than he uses it.
@ServiceLoop
final class CredentialDevice: Client {
    let keeper: CredentialOwner
    let isFirst: Bool
    /// Whether there is nobody else who changes the credential.
    let isAlone: Bool
    private(set) var acts = 0
    /// A settings session, which goes on through the changes that it makes.
    private var settings: [UInt8]?
    /// Sessions that open wallets.
    private(set) var resources: [[UInt8]] = []
    /// The wallet vault's own way to the authority, where only keys are asked for.
    private let vaultToAuthority: ServiceClient

    init(
        _ number: Int, of keeper: CredentialOwner, isAlone: Bool, on machine: SimulatedMachine,
        seed: UInt64
    ) {
        self.keeper = keeper
        isFirst = number == 1
        self.isAlone = isAlone
        vaultToAuthority = machine.way(
            from: SimulatedNetwork.Sender(peer: Directory.key(of: .walletVault)),
            to: .credentialAuthority)
        super.init(
            Directory.key(ofDevice: number, of: 1), of: keeper.owner, on: machine, seed: seed)
    }

    override func drop(_ token: [UInt8]) {
        if settings == token { settings = nil }
        resources.removeAll { $0 == token }
    }

    func fail(_ sentence: String) { machine.promises.fail(sentence) }

    // MARK: A life

    func live(acts count: Int) async {
        for _ in 0..<count {
            await pause()
            acts += 1
            if keeper.isDamaged, choices.chance(percent: 80) {
                await mend()
                continue
            }
            if keeper.isLost {
                await recover()
                continue
            }
            if keeper.removal?.peer == peer, choices.chance(percent: 60) {
                await goOnRemoving()
                continue
            }
            guard keeper.beliefs.openCount < 3 else {
                await settleOpen()
                continue
            }
            if machine.services.contains(.walletVault), choices.chance(percent: 12) {
                await destroy()
                continue
            }
            let state = choices.pick(keeper.beliefs.states)
            if state?.passcode == nil { await actWithoutPasscode() } else { await act() }
        }
    }

    private func pause() async {
        switch choices.number(in: 1...100) {
        case 1...92:
            let milliseconds = UInt64(choices.number(in: 0...60))
            await machine.timers.sleep(milliseconds: milliseconds)
        case 93...97:
            await machine.timers.sleep(milliseconds: UInt64(choices.number(in: 0...20_000)))
        // Across a session's end, or a wait.
        default: machine.sleep()
        }
    }

    private func actWithoutPasscode() async {
        if isAlone, machine.services.contains(.walletVault) {
            if choices.chance(percent: 20) { return await resetFresh() }
            if choices.chance(percent: 6) { return await meetLoss() }
        }
        switch choices.number(in: 1...100) {
        case 1...62: await setFirstPasscode()
        case 63...80: await importCredential()
        case 81...95: await openUnprotected(.standard)
        default: await settleOpen()
        }
    }

    private func act() async {
        if isAlone, machine.services.contains(.walletVault), choices.chance(percent: 6) {
            return await meetLoss()
        }
        switch choices.number(in: 1...100) {
        case 1...14: await changePasscode()
        case 15...20: await disablePasscode()
        case 21...33: await setProtection()
        case 34...51: await enrol()
        case 52...58: await removeDeviceKey()
        case 59...68: await openWithDevice()
        case 69...73: await unlock()
        case 74...83: await workLong()
        case 84...86: await tryWrong()
        case 87...88: await lock()
        case 89...95: await destroy()
        case 96...97: await work()
        case 98: await meetDamage()
        default: await settleOpen()
        }
    }

    // MARK: Sessions

    /// A settings session, kept or new.
    func settingsToken() async -> [UInt8]? {
        if let settings, choices.chance(percent: 90) { return settings }
        for _ in 0..<3 {
            settings = await verify(.settings)
            if settings != nil { return settings }
            // Whatever was killed starts again.
            await machine.timers.sleep(milliseconds: UInt64(choices.number(in: 0...1_000)))
        }
        return nil
    }

    func certainCode() -> String? {
        choices.pick(keeper.beliefs.states.compactMap(\.passcode))
    }

    /// A session with a passcode that may be the right one.
    func verify(_ scope: Scope, lifetime: Lifetime = .standard) async -> [UInt8]? {
        guard let code = certainCode() else { return nil }
        guard case .coolingDown(let remaining) = await verify(code, scope, lifetime) else {
            return lastToken
        }
        guard choices.chance(percent: 60) else { return nil }
        // Whoever shuts the machine's lid until the wait is over has the wait go on.
        if choices.chance(percent: 70) {
            machine.sleep(upTo: 90)
        } else {
            await machine.timers.sleep(milliseconds: remaining + 1)
        }
        _ = await verify(code, scope, lifetime)
        return lastToken
    }

    enum Verdict: Equatable {
        case verified
        case wrong
        case coolingDown(UInt64)
        case refused(String)
    }

    /// The session of the last passcode that was right.
    private(set) var lastToken: [UInt8]?
    /// A session that opens wallets, of the passcode that is the right one in the end.
    var lastRight: [UInt8]?

    /// Tries a code and judges the answer by what is known.
    @discardableResult
    func verify(
        _ code: String, _ scope: Scope, _ lifetime: Lifetime = .standard,
        for audience: [ServiceName]? = nil
    ) async -> Verdict {
        lastToken = nil
        let mark = keeper.beliefs.mark
        let states = keeper.beliefs.states
        let request = Verify(
            scope: scope, audience: audience ?? self.audience(of: scope), lifetime: lifetime)
        let answer: Answer<Verify>
        do throws(Refusal) {
            answer = try await authority.call(
                request, options: options(), attachments: [secret(code)])
        } catch {
            judge(error, mark, states)
            return .refused(error.code)
        }
        let isSettled = keeper.beliefs.isSettled(since: mark)
        switch answer.reply {
        case .verified:
            if isSettled, !keeper.beliefs.see({ $0.passcode == code }) {
                fail("\(code) was taken and is no passcode of its owner")
            }
            machine.deeds[.session] += 1
            lastToken = answer.attachments.first.map { $0.bytes.withBytes { Array($0) } }
            if lifetime == .ownerManaged { machine.deeds[.ownerManaged] += 1 }
            if case .resource = scope, let lastToken { resources.append(lastToken) }
            return .verified
        case .wrong:
            if isSettled, !keeper.beliefs.see({ $0.passcode != code }) {
                fail("the passcode that was told to be set was called wrong")
            }
            return .wrong
        case .coolingDown(let remaining, _): return .coolingDown(remaining)
        }
    }

    func audience(of scope: Scope) -> [ServiceName] {
        scope.namespace == nil ? [] : [.walletVault]
    }

    /// What a refusal says of the credential must be so.
    private func judge(_ refusal: Refusal, _ mark: Int?, _ states: [CredentialState]) {
        judge(refusal)
        guard keeper.beliefs.isSettled(since: mark) else { return }
        switch refusal.code {
        case "credential.no_passcode" where states.allSatisfy({ $0.passcode != nil }):
            fail("an owner who was told to have a passcode has none")
        case "device_key.none" where states.allSatisfy({ $0.route != nil }):
            fail("a token that was told to be enrolled opens nothing")
        default: break
        }
    }

    /// Stores that do not belong together, or are damaged, never come of what breaks here.
    func judge(_ refusal: Refusal) {
        if keeper.isDamaged, refusal.code == "credential.attempts_damaged" { return }
        // A limiter that knows an owner of whom the authority's store is lost.
        if keeper.isLost, refusal.code == "credential.missing" { return }
        let isDamage =
            [
                "credential.missing", "credential.secret_missing", "credential.damaged",
                "credential.attempts_damaged", "credential.unsupported_version",
            ].contains(refusal.code)
        if isDamage { fail("the credential: \(refusal.code)") }
    }

    override func ask<R: Request>(
        _ request: R, _ client: ServiceClient, _ token: [UInt8], key: IdempotencyKey? = nil,
        attachments: [SharedSecret] = []
    ) async throws(Refusal) -> Answer<R> {
        do throws(Refusal) {
            return try await super.ask(
                request, client, token, key: key, attachments: attachments)
        } catch {
            judge(error)
            throw error
        }
    }

    private func tryWrong() async { await verify(keeper.newCode(), .appUnlock) }

    private func unlock() async {
        guard let token = await verify(.resource(keeper.namespace)) else { return }
        await derive(token)
    }

    func lock() async { _ = try? await authority.call(Lock(), options: options()) }

    /// A session that needs no passcode, where none is needed.
    @discardableResult
    func openUnprotected(_ lifetime: Lifetime) async -> [UInt8]? {
        let mark = keeper.beliefs.mark
        let states = keeper.beliefs.states
        keeper.use()
        if states.contains(where: { $0.passcode == nil }) {
            _ = try? await authority.call(Unlock(), options: options())
        }
        let scope = Scope.resource(keeper.namespace)
        do throws(Refusal) {
            let answer = try await authority.call(
                OpenSession(scope: scope, audience: [.walletVault], lifetime: lifetime),
                options: options())
            if keeper.beliefs.isSettled(since: mark), states.allSatisfy(\.protection) {
                fail("wallets that need the passcode were opened without one")
            }
            machine.deeds[.unprotectedSession] += 1
            return await opened(answer.attachments, lifetime)
        } catch {
            judge(error, mark, states)
            return nil
        }
    }

    /// A session by the token that may be enrolled.
    @discardableResult
    func openWithDevice(_ lifetime: Lifetime = .standard) async -> [UInt8]? {
        let mark = keeper.beliefs.mark
        let states = keeper.beliefs.states
        guard let uri = choices.pick(states.compactMap(\.route)) else { return nil }
        let scope = Scope.resource(keeper.namespace)
        do throws(Refusal) {
            let answer = try await authority.call(
                OpenDeviceSession(scope: scope, audience: [.walletVault], lifetime: lifetime),
                options: options(), attachments: [secret(machine.tokens.pin(of: uri))])
            if keeper.beliefs.isSettled(since: mark), !keeper.beliefs.see({ $0.route != nil }) {
                fail("a token opened wallets that was told not to be enrolled")
            }
            machine.deeds[.deviceSession] += 1
            guard let token = await opened(answer.attachments, lifetime) else { return nil }
            if choices.chance(percent: 25) { await overreach(token) }
            return token
        } catch {
            judge(error, mark, states)
            let isLost =
                error.code == "device_key.mismatch"
                || (error.code == "device_key.no_object"
                    && machine.tokens.tokens[uri]?.wasCleared == false)
            if isLost, keeper.beliefs.isSettled(since: mark), states.allSatisfy({ $0.route == uri })
            {
                fail("the token that was told to be enrolled: \(error.code)")
            }
            return nil
        }
    }

    private func opened(_ attachments: [SharedSecret], _ lifetime: Lifetime) async -> [UInt8]? {
        guard let token = attachments.first?.bytes.withBytes({ Array($0) }) else { return nil }
        resources.append(token)
        if lifetime == .ownerManaged { machine.deeds[.ownerManaged] += 1 }
        await derive(token)
        return token
    }

    /// Asks with a token's session for what is the passcode's.
    private func overreach(_ token: [UInt8]) async {
        let pin = secret("4321")
        switch choices.number(in: 1...4) {
        case 1: _ = try? await authority.call(DisablePasscode(), options: keyed(token))
        case 2:
            _ = try? await authority.call(SetProtection(protection: false), options: keyed(token))
        case 3:
            _ = try? await authority.call(
                BeginRemoval(removalKind: .reset), options: options(token))
        default:
            let scope: Scope = choices.chance(percent: 50) ? .settings : .managePasscode
            let answer = try? await authority.call(
                OpenDeviceSession(scope: scope, audience: []), options: options(),
                attachments: [pin])
            if answer != nil { fail("a token opened a session that is the passcode's") }
        }
    }

    private func keyed(_ token: [UInt8]) -> CallOptions {
        options(token, key: IdempotencyKey(choices.bytes(IdempotencyKey.byteCount)))
    }

    // MARK: Keys

    /// Asks for a key as the vault does, and compares it with what the owner's key gave before.
    ///
    /// - Returns: why there is none; nil where there is one.
    @discardableResult
    func derive(_ token: [UInt8]) async -> Refusal? {
        let mark = keeper.beliefs.mark
        let request = Derive(
            namespace: keeper.namespace, domains: ["telegram.wallet.dek.v1"], purpose: .open,
            wallet: nil, holder: peer)
        do throws(Refusal) {
            let answer = try await ask(request, vaultToAuthority, token)
            let key = answer.attachments.first?.bytes.withBytes { Array($0) } ?? []
            if keeper.beliefs.isSettled(since: mark), !keeper.beliefs.see(derived: key) {
                fail("another access key is there than was")
            }
            return nil
        } catch {
            return error
        }
    }

    /// Makes a wallet in the vault, or looks whether it opens.
    func work() async {
        guard machine.services.contains(.walletVault), let token = await resourceSession() else {
            return
        }
        let mark = keeper.beliefs.mark
        guard let wallet = keeper.wallet else { return await makeWallet(token) }
        do throws(Refusal) {
            _ = try await ask(
                CheckWallet(namespace: keeper.namespace, wallet: wallet), vault, token)
        } catch {
            let isDamage = ["vault.no_such_wallet", "vault.envelope_damaged"].contains(error.code)
            if isDamage, keeper.wallet == wallet, keeper.beliefs.isSettled(since: mark) {
                fail("a wallet that was acknowledged: \(error.code)")
            }
        }
    }

    private func resourceSession() async -> [UInt8]? {
        if certainCode() == nil { return await openUnprotected(.standard) }
        return await verify(.resource(keeper.namespace))
    }

    func makeWallet(_ token: [UInt8]) async {
        let mark = keeper.beliefs.mark
        keeper.mayHaveWallets = true
        let request = CreateWallet(
            namespace: keeper.namespace, label: "wallet \(choices.next())", words: 12)
        await change(request, vault, token: token) { [keeper, machine] _, reply in
            guard let reply, keeper.beliefs.isSettled(since: mark) else { return }
            machine.deeds[.wallet] += 1
            keeper.wallet = reply.wallet
        }
    }
}
