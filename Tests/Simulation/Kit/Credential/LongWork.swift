import AuthorityMessages
import Loop
import TestKit
import Tokens
import Wire

/// Work that its owner finishes, through locks and sleeps of the machine.
extension CredentialDevice {
    func workLong() async {
        guard let token = await ownerManaged() else { return }
        for _ in 0..<choices.number(in: 1...4) {
            switch choices.number(in: 1...6) {
            case 1: _ = try? await ask(Renew(), authority, token)
            case 2: await machine.timers.sleep(milliseconds: UInt64(choices.number(in: 0...16_000)))
            case 3: machine.sleep()
            case 4: await awaitUnlocked(token)
            default: await lock()
            }
            await derive(token)
        }
        if choices.chance(percent: 60) { _ = try? await ask(Revoke(), authority, token) }
        // Of a session that is over nothing comes; the promises look at every key that leaves.
        await derive(token)
        drop(token)
    }

    private func ownerManaged() async -> [UInt8]? {
        let states = keeper.beliefs.states
        if states.contains(where: { !$0.protection }), choices.chance(percent: 60) {
            return await openUnprotected(.ownerManaged)
        }
        if states.contains(where: { $0.route != nil }), choices.chance(percent: 50) {
            return await openWithDevice(.ownerManaged)
        }
        return await verify(.resource(keeper.namespace), lifetime: .ownerManaged)
    }

    /// Locks, waits with the session, and unlocks meanwhile.
    private func awaitUnlocked(_ token: [UInt8]) async {
        await lock()
        var isWaiting = true
        ServiceLoop.start { [weak self] in
            guard let self else { return }
            let wait = AwaitUnlocked(waitMilliseconds: 3_000)
            if let answer = try? await self.ask(wait, self.authority, token),
                answer.reply.unlocked
            {
                self.machine.deeds[.suspension] += 1
            }
            isWaiting = false
        }
        if choices.chance(percent: 70) { _ = await verify(.appUnlock) }
        while isWaiting { await machine.timers.sleep(milliseconds: 200) }
    }
}
