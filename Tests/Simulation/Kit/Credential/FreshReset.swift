import AuthorityMessages
import Loop
import TestKit
import Wire

/// The reset of an owner of whom nobody knows anything, and the loss of stores that leads to it.
///
/// Where one device is alone: nobody authorises such a reset, so that whoever asks must know of
/// every copy of his request.
extension CredentialDevice {
    /// Asks for one, whether something of the owner is known or not.
    func resetFresh() async {
        guard isAlone, machine.services == SimulatedMachine.allServices, keeper.removal == nil,
            keeper.beliefs.openCount == 0
        else { return await settleOpen() }
        let key = keeper.beliefs.newKey()
        let change = keeper.beliefs.begin { state in
            state.isBlank && state.passcode == nil ? CredentialState(key: key) : nil
        }
        keeper.removal = CredentialOwner.RemovalUnderWay(
            kind: .reset, isFresh: true, change: change, token: [], peer: peer)
        await goOnRemoving()
    }

    /// Waits until no copy of the request is on its way or at work any more.
    func awaitLateCopies() async {
        while machine.network.carries(BeginFreshReset.method) {
            await machine.timers.sleep(milliseconds: 500)
        }
        await machine.timers.sleep(milliseconds: Self.longestWork)
    }

    /// No service works longer at one request, in milliseconds.
    private static let longestWork: UInt64 = 10_000

    // MARK: Lost stores

    /// The authority's store is lost, and some of the others': as after a fresh installation, or
    /// where only some were put back.
    func meetLoss() async {
        let beliefs = keeper.beliefs
        guard isAlone, machine.services == SimulatedMachine.allServices else { return }
        // Only what is somewhere can be lost.
        if keeper.wallet == nil { await work() }
        guard beliefs.openCount == 0, keeper.removal == nil, !keeper.isDamaged else { return }
        let others: [ServiceName] = [.attemptLimiter, .walletVault, .backupShares, .migration]
        let lost = others.filter { choices.chance(percent: $0 == .walletVault ? 30 : 60) }
        machine.lose([.credentialAuthority] + lost)
        keeper.isLost = true
        keeper.wallet = nil
        noteLoss()
        for _ in 0..<4 where keeper.isLost { await recover() }
    }

    private func noteLoss() {
        let state = CredentialState(key: keeper.beliefs.newKey(), isBlank: true)
        let change = keeper.beliefs.begin { _ in state }
        _ = keeper.beliefs.end(change, made: true)
        machine.tokens.giveUp()
        // What is left of him somewhere is known.
        keeper.use()
    }

    /// Has the owner reset, and where something of him is left loses that too.
    func recover() async {
        if keeper.removal == nil { await resetFresh() } else { await goOnRemoving() }
        guard keeper.isLost else { return }
        guard keeper.removal == nil else {
            // Whatever was killed starts again.
            return await machine.timers.sleep(milliseconds: 500)
        }
        machine.lose(SimulatedMachine.allServices)
        try? keeper.renewCircle()
        noteLoss()
        keeper.beginAnew()
    }
}
