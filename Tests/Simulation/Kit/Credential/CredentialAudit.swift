import AuthorityMessages
import Loop
import Serving
import Tokens
import Wire

/// Looks, once nothing breaks any more, whether the credential is as it was told.
extension CredentialDevice {
    /// Half seconds, in which the slowest thing that a token was asked before is over.
    private static let tokenRounds = 80

    func auditCredential() async {
        for _ in 0..<20 where keeper.isDamaged { await mend() }
        for _ in 0..<20 where keeper.isLost { await recover() }
        if keeper.isLost { fail("an owner whose stores are lost is not reset") }
        for _ in 0..<20 where keeper.removal?.peer == peer {
            await goOnRemoving()
            await machine.timers.sleep(milliseconds: 500)
        }
        if let removal = keeper.removal, removal.peer == peer {
            fail("a \(removal.kind.text) does not end after all was mended: \(removal.refusal)")
        }
    }

    /// One valid credential: its passcode and its token open what they opened, and nothing waits.
    func auditStores() async {
        guard keeper.beliefs.openCount == 0 else { return }
        if isAlone, !keeper.wasUsedInRemoval, keeper.beliefs.states.allSatisfy(\.isBlank) {
            let services = RemovalKind.remove.services.filter {
                $0 != .walletVault || !keeper.mayHaveWallets
            }
            for service in services where machine.has(owner, service) == true {
                fail("\(service.text) has something of an owner who was told to be removed")
            }
        }
        await auditStatus()
        if keeper.beliefs.states.contains(where: { $0.passcode != nil }) {
            await auditPasscode()
        } else {
            await auditWithoutPasscode()
            await auditFirstPasscode()
        }
        if await insist(on: AskStatus(), authority)?.removal != nil {
            fail("a removal is left after all was mended")
        }
    }

    private func auditWithoutPasscode() async {
        // A change of the owner's may still wait for a slow token.
        for _ in 0..<Self.tokenRounds {
            if await openUnprotected(.standard) != nil { return }
            await machine.timers.sleep(milliseconds: 500)
        }
        fail("wallets that need no passcode do not open after all was mended")
    }

    /// Who has no passcode can set one.
    private func auditFirstPasscode() async {
        for _ in 0..<Self.tokenRounds {
            await setFirstPasscode()
            if keeper.beliefs.states.allSatisfy({ $0.passcode != nil }) {
                return await auditPasscode()
            }
            await machine.timers.sleep(milliseconds: 500)
        }
        fail("an owner without a passcode can set none after all was mended")
    }

    /// The record has a passcode and protection exactly where that was told.
    private func auditStatus() async {
        guard let status = await insist(on: AskStatus(), authority) else { return }
        let fits = keeper.beliefs.see {
            ($0.passcode != nil) == (status.kind != nil) && $0.protection == status.protection
        }
        if !fits {
            fail(
                "the credential stands otherwise than it was told: "
                    + "passcode \(status.kind != nil), protection \(status.protection)")
        }
    }

    private func auditPasscode() async {
        for code in Set(keeper.beliefs.states.compactMap(\.passcode)).sorted() {
            await patiently(code)
        }
        guard let token = lastRight else { return fail("no passcode that was told opens anything") }
        if let refusal = await derive(token) {
            fail("the passcode's session gives no key after all was mended: \(refusal.code)")
        }
        await auditProtection()
        await auditRoute()
        await auditTokens()
    }

    /// Waits out every wait.
    private func patiently(_ code: String) async {
        for _ in 0..<10 {
            switch await verify(code, .resource(keeper.namespace)) {
            case .verified: return lastRight = lastToken
            case .wrong: return
            case .coolingDown: machine.sleep(exactly: 60)
            case .refused: await machine.timers.sleep(milliseconds: 500)
            }
        }
    }

    private func auditProtection() async {
        let isProtected = keeper.beliefs.states.allSatisfy(\.protection)
        let opens = await openUnprotected(.standard) != nil
        if opens == isProtected {
            fail("protection that was told to be \(isProtected) is not so")
        }
    }

    /// The token that was told to be enrolled opens, and none where none was.
    private func auditRoute() async {
        guard let route = await insist(on: AskDeviceKey(), authority) else { return }
        guard keeper.beliefs.see({ $0.route == route.token }) else {
            return fail("\(route.token ?? "no token") is enrolled otherwise than it was told")
        }
        guard let uri = route.token, machine.tokens.tokens[uri]?.wasCleared == false else { return }
        // A slow token keeps the next one who asks it waiting.
        for _ in 0..<Self.tokenRounds {
            if await openWithDevice() != nil { return }
            await machine.timers.sleep(milliseconds: 500)
        }
        fail("the token that is enrolled opens nothing")
    }

    /// Whatever lies on a token is known, and once the tokens are there nothing is left of it.
    private func auditTokens() async {
        for round in 0..<Self.tokenRounds {
            guard let copies = await insist(on: AskDeviceKey(), authority) else { return }
            for uri in SimulatedTokens.uris {
                let known = copies.waiting.count { $0 == uri } + (copies.token == uri ? 1 : 0)
                if machine.tokens.count(on: uri) > known {
                    fail("a token has a copy that no journal knows")
                }
            }
            if copies.token == nil, copies.waiting.isEmpty { return }
            await deleteWaiting(copies, round)
            await machine.timers.sleep(milliseconds: 500)
        }
        fail("a copy on a token waits to be deleted after all was mended")
    }

    private func deleteWaiting(_ copies: AskDeviceKey.Reply, _ round: Int) async {
        guard let token = await settingsToken(),
            let uri = copies.token ?? Set(copies.waiting).sorted().dropFirst(round % 2).first
                ?? copies.waiting.first
        else { return }
        await change(
            RemoveDeviceKey(lost: false), authority, token: token,
            attachments: [secret(machine.tokens.pin(of: uri))]
        ) { _, _ in }
    }
}
