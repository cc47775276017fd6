import Clocks
import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Storage
import TestKit
import Wire

/// A rule that is broken on purpose, behind the limiter's back, to see that the check notices.
enum Breakage: CaseIterable {
    case chargeIsNotCounted
    case sixthDoesNotLock
    case nonceIsForgotten
    case rebootClears
    case restartClears
    case rollbackIsForgotten
    case anyKeyLowers
    case attemptOutlivesItsTime

    var finds: EvaluationBound.Violation {
        switch self {
        case .nonceIsForgotten: .evaluatedTwice
        case .anyKeyLowers: .loweredUnsigned
        case .attemptOutlivesItsTime: .loweredLate
        default: .tooMany
        }
    }
}

/// Somebody who holds the authority's key against one owner who goes on unlocking: one random
/// sequence of calls, with the process ended, the machine booted, and the store put back between.
@ServiceLoop
final class AttackRun {
    private struct Recorded {
        let attempt: AttemptID
        let charge: UInt64
        let boot: BootID
        let at: UInt64
        var signature: [UInt8]?
    }

    private let rig: LimiterRig
    private let owner: Owner
    private let key: AccessKey
    private let thiefKey: AccessKey
    private let enrolment: EnrolmentID
    private let choices: SeededRandom
    private let breakage: Breakage?
    private var attempts: [Recorded] = []
    private var nonces: [[UInt8]] = []
    private var proofs: [Prove] = []
    private var copies: [StoreCopy] = []
    /// Milliseconds of true time.
    private var elapsed = 0
    private var isOver = false
    private(set) var bound = EvaluationBound()
    private(set) var met: [String: Int] = [:]

    init(_ rig: LimiterRig, seed: UInt64, breakage: Breakage? = nil) throws {
        self.rig = rig
        self.breakage = breakage
        choices = SeededRandom(seed: seed)
        owner = try Owner(named: "victim-\(seed)")
        key = try AccessKey(from: choices)
        thiefKey = try AccessKey(from: choices)
        enrolment = try rig.enrol(owner, key)
        if breakage == .anyKeyLowers { try rig.setConfirmKey(thiefKey.publicKey, of: owner) }
        copies = [try rig.copyStore(of: owner)]
    }

    /// Runs until a promise is broken or the sequence ends.
    func run(steps: Int) throws {
        for number in 1...steps where bound.violation == nil && !isOver {
            try step()
            try tamper()
            // A count that is too low stays too low, so not every step need look.
            guard breakage == nil, !isOver, number % 3 == 0 || number == steps else { continue }
            bound.count(is: try rig.standing(owner).failed)
        }
    }

    private func step() throws {
        switch choices.number(in: 1...100) {
        case 1...34: try guess()
        case 35...44: try forgeConfirm()
        case 45...52: try replayConfirm()
        case 53...58: try forgeProof()
        case 59...61: try takeOver()
        case 62...75: wait()
        case 76...79: try unlock(confirming: true)
        case 80...85: try unlock(confirming: false)
        case 86...87: try change()
        case 88...90: try restart()
        case 91...93: try reboot()
        case 94...95: copies.append(try rig.copyStore(of: owner))
        case 96...97: try putBack()
        case 98: try crashInTheMiddle()
        case 99: try floodChallenges()
        default: try forget()
        }
    }

    private func note(_ event: String) { met[event, default: 0] += 1 }

    /// A call that may be refused; anything but a fault of the limiter fails the test.
    private func attempt<T>(_ body: () throws -> T) throws -> T? {
        do {
            return try body()
        } catch let fault as LimiterFault {
            note(fault.rawValue)
            return nil
        }
    }

    // MARK: The thief

    private func guess() throws {
        let isRepeat = choices.chance(percent: 20)
        let nonce = (isRepeat ? choices.pick(nonces) : nil) ?? choices.bytes(16)
        let known = Int(bound.lastCharge)
        let last =
            choices.chance(percent: 4)
            ? known + choices.number(in: 1...9) : choices.number(in: 0...known)
        let other = choices.chance(percent: 4) ? EnrolmentID(choices.bytes(16)) : nil
        try begin(other ?? enrolment, nonce: nonce, lastCharge: UInt64(last))
    }

    private func forgeConfirm() throws {
        guard let target = choices.pick(attempts) else { return }
        let signature =
            switch choices.number(in: 1...4) {
            case 1: thiefKey.sign(.confirm, owner, target.attempt.bytes)
            case 2: choices.pick(attempts)?.signature ?? choices.bytes(64)
            case 3: choices.pick(proofs)?.signature ?? choices.bytes(64)
            default: choices.bytes(64)
            }
        try deliver(target, signature: signature)
    }

    /// What the owner signed, whenever the thief likes, and again.
    private func replayConfirm() throws {
        guard let target = choices.pick(attempts.filter { $0.signature != nil }),
            let signature = target.signature
        else { return }
        try deliver(target, signature: signature)
    }

    private func forgeProof() throws {
        var request: Prove
        if choices.chance(percent: 40), let old = choices.pick(proofs) {
            request = old
            if choices.chance(percent: 50) { request.challenge = try rig.challenge(owner) }
        } else {
            let challenge = try rig.challenge(owner)
            request = Prove(
                enrolment: enrolment, challenge: challenge,
                signature: thiefKey.sign(.provePasscode, owner, challenge))
        }
        let accepted = try attempt {
            try rig.turn { try $0.prove(request, of: owner, code: secret("0000")) }
        }
        if accepted != nil { bound.note(.loweredUnsigned) }
    }

    private func takeOver() throws {
        let secretBefore = try rig.deviceSecret(of: owner)
        let own = try attempt { try rig.enrol(owner, thiefKey) }
        // With the rule broken the thief's key is the owner's, which is the breakage at work.
        if own != nil && breakage != .anyKeyLowers { bound.note(.loweredUnsigned) }
        if try rig.deviceSecret(of: owner) != secretBefore { bound.note(.loweredUnsigned) }
        let missing = EnrolmentID(choices.bytes(16)) ?? enrolment
        _ = try rig.turn { try $0.forget(Forget(enrolment: missing), of: owner) }
        _ = try attempt { try rig.turn { try $0.repair(owner, seen: 0) } }
    }

    private func floodChallenges() throws { for _ in 0..<70 { _ = try rig.challenge(owner) } }

    /// Destroying the secret is the one thing that he can do: it leaves nothing to guess against.
    private func forget() throws {
        let before = try rig.deviceSecret(of: owner)
        _ = try rig.turn { try $0.forget(Forget(enrolment: enrolment), of: owner) }
        _ = try rig.enrol(owner, thiefKey)
        if try rig.deviceSecret(of: owner) == before { bound.note(.loweredUnsigned) }
        note("forgotten")
        isOver = true
    }

    // MARK: The owner, through an authority that does as it should

    private func unlock(confirming: Bool) throws {
        let count = attempts.count
        try begin(enrolment, nonce: choices.bytes(16), lastCharge: bound.lastCharge)
        guard attempts.count > count else { return }
        // The right code was entered: the owner's key signs, and whoever is in the way sees it.
        attempts[count].signature = key.sign(.confirm, owner, attempts[count].attempt.bytes)
        guard confirming, let signature = attempts[count].signature else { return }
        try deliver(attempts[count], signature: signature)
    }

    private func change() throws {
        let challenge = try rig.challenge(owner)
        let request = Prove(
            enrolment: enrolment, challenge: challenge,
            signature: key.sign(.provePasscode, owner, challenge))
        let accepted = try attempt {
            try rig.turn { try $0.prove(request, of: owner, code: secret("4321")) }
        }
        proofs.append(request)
        if accepted != nil { bound.cleared() }
    }

    // MARK: Time and failure

    private func wait() {
        let milliseconds = choices.pick([0, 1, 1_000, 30_000, 59_999, 60_000, 61_000]) ?? 0
        rig.clock.advance(milliseconds: UInt64(milliseconds))
        elapsed += milliseconds
    }

    private func restart() throws {
        try rig.restart(reopening: choices.chance(percent: 5))
        if breakage == .restartClears { try rig.setCount(0, of: owner) }
    }

    private func reboot() throws {
        // Takes no true time: the worst for the limiter.
        rig.clock.reboot(nanoseconds: UInt64(choices.number(in: 1...200)) * 1_000_000_000)
        try rig.restart(reopening: false)
        if breakage == .rebootClears { try rig.setCount(0, of: owner) }
    }

    /// An older copy of the store; the next to ask is the authority, with the number that it saw.
    private func putBack() throws {
        guard let copy = choices.pick(copies) else { return }
        try rig.putBack(copy, of: owner)
        try rig.restart(reopening: false)
        bound.storeWentBack()
        try unlock(confirming: false)
        if breakage == .rollbackIsForgotten { try rig.putBack(copy, of: owner) }
    }

    /// A charge that was never committed, and whose answer so never left.
    private func crashInTheMiddle() throws {
        let request = Begin(enrolment: enrolment, nonce: choices.bytes(16), lastCharge: 0)
        _ = try attempt { try rig.service.begin(request, of: owner, code: secret("0000")) }
        try rig.restart(reopening: false)
    }

    // MARK: Parts

    private func begin(_ id: EnrolmentID, nonce: [UInt8], lastCharge: UInt64) throws {
        nonces.append(nonce)
        let before = try rig.storedLedger(of: owner)
        let answer = try attempt {
            try rig.begin(owner, id, lastCharge: lastCharge, nonce: nonce, code: "0000")
        }
        guard let answer else { return }
        guard case .charged(let attempt, let charge) = answer.reply else {
            if !answer.attachments.isEmpty { bound.note(.tooMany) }
            return note("cooling down")
        }
        note("evaluated")
        let now = rig.clock.now
        attempts.append(
            Recorded(attempt: attempt, charge: charge, boot: now.bootID, at: now.nanoseconds))
        bound.evaluation(charge: charge, nonce: nonce, at: elapsed)
        if breakage == .chargeIsNotCounted, let before {
            try rig.setRecord(before, of: owner)
        }
    }

    private func deliver(_ target: Recorded, signature: [UInt8]) throws {
        let request = Confirm(attempt: target.attempt, signature: signature)
        let accepted = try attempt { try rig.turn { try $0.confirm(request, of: owner) } }
        guard accepted != nil else { return }
        note("confirmed")
        if signature != target.signature { bound.note(.loweredUnsigned) }
        let isRepeat = confirmed.contains(target.attempt)
        let now = rig.clock.now
        let isOver = now.bootID != target.boot || now.nanoseconds - target.at > 60_000_000_000
        if isOver && !isRepeat { bound.note(.loweredLate) }
        confirmed.insert(target.attempt)
        bound.lowered(through: target.charge)
    }

    private var confirmed: Set<AttemptID> = []

    private func tamper() throws {
        switch breakage {
        case .sixthDoesNotLock: try rig.dropWait(of: owner)
        case .nonceIsForgotten: try rig.forgetNonces()
        case .attemptOutlivesItsTime: try rig.refreshAttempts()
        default: break
        }
    }
}
