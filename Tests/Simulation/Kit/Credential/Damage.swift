import AuthorityMessages
import Loop
import TestKit
import Tokens
import Wire

/// A damaged count of tries, which is refused until somebody has it mended as he is told to.
extension CredentialDevice {
    func meetDamage() async {
        let beliefs = keeper.beliefs
        guard isAlone, beliefs.openCount == 0, keeper.removal == nil,
            beliefs.states.allSatisfy({ $0.passcode != nil }), let code = certainCode(),
            machine.damageTries(of: owner)
        else { return }
        keeper.isDamaged = true
        for _ in 0..<choices.number(in: 1...3) {
            if case .refused = await verify(code, .appUnlock) { continue }
            fail("a passcode was tried while the count of tries was damaged")
        }
        for _ in 0..<4 where keeper.isDamaged { await mend() }
    }

    /// Has six tries counted, and a wait begun.
    func mend() async {
        do throws(Refusal) {
            let mended = try await ask(RepairOwnerAttempts(), authority, []).reply
            keeper.isDamaged = false
            if mended.failed < 6 { fail("\(mended.failed) tries are counted after a repair") }
        } catch {
            // An earlier request may have mended it, and its answer be lost.
            if error.code == "credential.nothing_to_repair" { keeper.isDamaged = false }
            await machine.timers.sleep(milliseconds: 500)
        }
    }
}
