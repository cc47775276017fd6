import Loop
import SharesMessages
import TestKit
import Tokens
import VaultMessages
import Wire

/// What backup-shares has of an owner before he is removed.
extension CredentialDevice {
    /// Has holders taken in, and splits the wallet between them.
    func keepShares() async {
        await takeHoldersIn()
        guard keeper.circle.next == nil, let wallet = keeper.wallet, let code = certainCode(),
            choices.chance(percent: 90)
        else { return }
        let namespace = keeper.namespace
        let services: [ServiceName] = [.walletVault, .backupShares]
        guard
            await verify(code, .reveal(namespace, wallet), for: services) == .verified,
            let token = lastToken
        else { return }
        let request = SplitWallet(
            namespace: namespace, wallet: wallet, holders: keeper.circle.holders.map(\.name))
        guard (try? await ask(request, shares, token)) != nil else { return }
        machine.deeds[.unconfirmedSplit] += 1
    }

    private func takeHoldersIn() async {
        guard keeper.circle.next != nil, let code = certainCode(),
            await verify(code, .settings, for: [.backupShares]) == .verified,
            let token = lastToken
        else { return }
        let circle = keeper.circle
        for _ in circle.holders {
            guard let holder = circle.next else { return }
            await change(
                AddHolder(name: holder.name, publicKey: holder.publicKey), shares, token: token
            ) { [machine] made, _ in
                guard made == true else { return }
                machine.deeds[.holder] += 1
                circle.added.insert(holder.name)
            }
        }
    }
}
