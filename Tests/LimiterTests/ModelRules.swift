import Clocks
import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Storage
import TestKit
import Testing
import Wire

@Suite struct ModelRules {
    /// 24,000 operations; a failing run is named by its seed.
    @Test func theLimiterDoesWhatTheModelSays() async throws {
        var met: [String: Int] = [:]
        for seed in 1...120 as ClosedRange<UInt64> {
            let more = try await LoopHarness.run {
                let run = try ModelRun(seed: seed)
                for step in 1...200 where run.difference == nil {
                    try run.step()
                    if let difference = run.difference {
                        Issue.record("seed \(seed), step \(step): \(difference)")
                    }
                }
                return run.met
            }
            met.merge(more, uniquingKeysWith: +)
        }
        let faults = LimiterFault.allCases.filter { $0 != .numbersUsedUp }.map(\.rawValue)
        for event in faults + ["charged", "cooling down", "confirmed", "lost"] {
            #expect(met[event, default: 0] > 0, "\(event)")
        }
    }
}

/// One random run of limiter and model side by side.
@ServiceLoop
private final class ModelRun {
    private let rig: LimiterRig
    private let choices: SeededRandom
    private let owners: [Owner]
    private let keys: [AccessKey]
    private var model: LimiterModel
    private var committed: LimiterModel
    /// What was sent before, to be sent again.
    private var nonces: [[UInt8]] = []
    private var attempts: [(Owner, AttemptID)] = []
    private var enrolments: [EnrolmentID] = []
    /// Whether this turn goes on after the operation.
    private var isBatching = false
    private(set) var difference: String?
    /// How often the runs met what.
    private(set) var met: [String: Int] = [:]

    init(seed: UInt64) throws {
        let rig = try LimiterRig(seed: seed)
        self.rig = rig
        choices = SeededRandom(seed: seed ^ 0xC0FF_EE00)
        owners = try ["ann", "bob"].map(Owner.init(named:))
        keys = try (0..<2).map { _ in try AccessKey(from: rig.random) }
        model = LimiterModel(up: Int(rig.clock.now.nanoseconds / 1_000_000))
        committed = model
    }

    func step() throws {
        let owner = choices.chance(percent: 80) ? owners[0] : owners[1]
        switch choices.number(in: 1...100) {
        case 1...8: try enrol(owner)
        case 9...50: try begin(owner)
        case 51...62: try confirm()
        case 63...66: try prove(owner)
        case 67: try forget(owner)
        case 68...70: try damageOrRepair(owner)
        case 71...85: advance()
        case 86...88: reboot()
        case 89...93: try crash()
        default: break
        }
        if difference == nil { try endTurn() }
    }

    private func expect(_ isSame: Bool, _ what: @autoclosure () -> String) {
        if !isSame && difference == nil { difference = what() }
    }

    /// What the service answered, or its fault.
    private func outcome<T>(_ body: (LimiterService) throws -> T) throws -> Result<T, LimiterFault>
    {
        do {
            return .success(try body(rig.service))
        } catch let fault as LimiterFault {
            met[fault.rawValue, default: 0] += 1
            return .failure(fault)
        }
    }

    /// Commits, mostly, and compares how everybody stands.
    private func endTurn() throws {
        isBatching = choices.chance(percent: 20)
        guard !isBatching else { return }
        for owner in owners {
            let wanted: Result<Standing, LimiterFault> =
                model.lives[owner]?.isDamaged == true
                ? .failure(.damaged) : .success(model.standing(owner))
            let found = try outcome { try $0.standing(of: owner) }
            expect(found == wanted, "\(owner.text) stands \(found), wanted \(wanted)")
        }
        try rig.database.commitBatch()
        committed = model
    }

    private func enrol(_ owner: Owner) throws {
        let number = choices.chance(percent: 80) ? 0 : 1
        let key = keys[number]
        let challenge = try rig.service.drawChallenge(of: owner).challenge
        let request = Enrol(
            challenge: challenge, confirmKey: key.publicKey,
            signature: key.sign(.enrol, owner, challenge))
        let found = try outcome { try $0.enrol(request, of: owner).enrolment }
        if let life = model.look(at: owner) {
            let wanted: Result<EnrolmentID, LimiterFault> =
                life.key == number ? .success(life.id) : .failure(.otherKey)
            expect(found == wanted, "enrol \(found), wanted \(wanted)")
        } else if case .success(let id) = found {
            expect(!enrolments.contains(id), "an enrolment id came twice")
            enrolments.append(id)
            let life = LimiterModel.Life(id: id, key: number, boot: model.boot)
            model.lives[owner] = life
        } else {
            expect(false, "enrol \(found)")
        }
        expect(
            try outcome { try $0.enrol(request, of: owner).enrolment } == .failure(.badChallenge),
            "a challenge served twice")
    }

    private func begin(_ owner: Owner) throws {
        let current = model.lives[owner]?.id
        let stale = choices.chance(percent: 10) ? choices.pick(enrolments) : nil
        guard let enrolment = stale ?? current else { return }
        let isRepeat = choices.chance(percent: 12)
        let nonce = (isRepeat ? choices.pick(nonces) : nil) ?? rig.random.bytes(16)
        nonces.append(nonce)
        let last = model.lives[owner]?.last ?? 0
        let seen = max(0, last + (choices.chance(percent: 3) ? 3 : choices.number(in: -3...0)))
        let wanted = model.begin(owner, enrolment, nonce: nonce, lastSeen: seen)
        let request = Begin(enrolment: enrolment, nonce: nonce, lastCharge: UInt64(seen))
        let found = try outcome { try $0.begin(request, of: owner, code: secret("0000")) }
        switch (found, wanted) {
        case (.success(let answer), .charged(let number)):
            guard case .charged(let id, let charge) = answer.reply else { break }
            expect(charge == UInt64(number), "charge \(charge), wanted \(number)")
            expect(answer.attachments.count == 1, "no answer came with the charge")
            met["charged", default: 0] += 1
            attempts.append((owner, id))
            let attempt = LimiterModel.Attempt(charge: number, boot: model.boot, at: model.up)
            model.lives[owner]?.attempts[id] = attempt
            return
        case (.success(let answer), .coolingDown(let milliseconds, let failed)):
            met["cooling down", default: 0] += 1
            expect(answer.attachments.isEmpty, "an answer came without a charge")
            if answer.reply
                == .coolingDown(
                    remainingMilliseconds: UInt64(milliseconds), failed: UInt64(failed))
            {
                return
            }
        case (.failure(let fault), .refused(let wantedFault)):
            if fault == wantedFault { return }
        default: break
        }
        expect(false, "begin \(found), wanted \(wanted)")
    }

    private func confirm() throws {
        guard let (owner, id) = choices.pick(attempts.suffix(12)) else { return }
        let life = model.lives[owner]
        let isForged = choices.chance(percent: 15)
        let key = keys[(life?.key ?? 0) ^ (isForged ? 1 : 0)]
        let wanted = isForged ? nil : model.confirm(owner, id)
        let request = Confirm(attempt: id, signature: key.sign(.confirm, owner, id.bytes))
        let found = try outcome { try $0.confirm(request, of: owner).failedBefore }
        if wanted != nil, case .failure(.noSuchAttempt) = found,
            let attempt = life?.attempts[id], model.up - attempt.at > 600_000
        {
            // It was swept, which an old attempt may be at any time.
            return
        }
        if wanted != nil { met["confirmed", default: 0] += 1 }
        expect((try? found.get()) == wanted, "confirm \(found), wanted \(wanted as Any)")
    }

    private func prove(_ owner: Owner) throws {
        guard let life = model.lives[owner] else { return }
        let isForged = choices.chance(percent: 25)
        let challenge = try rig.service.drawChallenge(of: owner).challenge
        let hasCode = choices.chance(percent: 50)
        let signature = keys[life.key ^ (isForged ? 1 : 0)]
            .sign(hasCode ? .provePasscode : .proveRemoval, owner, challenge)
        let request = Prove(enrolment: life.id, challenge: challenge, signature: signature)
        let found = try outcome {
            try $0.prove(request, of: owner, code: hasCode ? secret("1") : nil).attachments.count
        }
        let wanted: Result<Int, LimiterFault> =
            isForged
            ? .failure(.badSignature)
            : life.isDamaged ? .failure(.damaged) : .success(hasCode ? 1 : 0)
        expect(found == wanted, "prove \(found), wanted \(wanted)")
        if case .success = wanted { model.prove(owner) }
    }

    private func forget(_ owner: Owner) throws {
        guard let enrolment = choices.pick(enrolments) else { return }
        _ = try rig.service.forget(Forget(enrolment: enrolment), of: owner)
        if model.lives[owner]?.id == enrolment { model.lives[owner] = nil }
    }

    private func damageOrRepair(_ owner: Owner) throws {
        guard let life = model.lives[owner] else { return }
        let found = try outcome { try $0.repair(owner, seen: 0).failed }
        if life.isDamaged {
            expect(found == .success(6), "repair \(found)")
            model.repair(owner)
        } else {
            expect(found == .failure(.nothingToRepair), "repair \(found)")
            try rig.database.commitBatch()
            try rig.setRecord(Array("{}".utf8), of: owner)
            model.lives[owner]?.isDamaged = true
            committed = model
        }
    }

    private func advance() {
        let milliseconds = choices.pick([1, 999, 5_000, 30_000, 59_999, 60_000, 61_000, 700_000])
        rig.clock.advance(milliseconds: UInt64(milliseconds ?? 1))
        model.up += milliseconds ?? 1
        committed.up = model.up
    }

    private func reboot() {
        rig.clock.reboot(nanoseconds: 7_000_000_000)
        model.boot += 1
        model.up = 7_000
        (committed.boot, committed.up) = (model.boot, model.up)
    }

    /// The process ends: what was not committed is gone, whatever it was.
    private func crash() throws {
        if rig.database.hasOpenBatch { met["lost", default: 0] += 1 }
        try rig.restart(reopening: choices.chance(percent: 50))
        model = committed
    }
}
