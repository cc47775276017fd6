import LimiterMessages
import Wire

/// What the limiter should do, told once more in the plainest way: lists of charges, whole
/// milliseconds, no store.
struct LimiterModel {
    struct Attempt {
        let charge: Int
        let boot: Int
        let at: Int
        var answer: UInt64?
    }

    /// One enrolment.
    struct Life {
        let id: EnrolmentID
        let key: Int
        /// The numbers of the charges that stand, oldest first.
        var standing: [Int] = []
        var last = 0
        var boot: Int
        var waitsUntil = 0
        var nonces: Set<[UInt8]> = []
        var attempts: [AttemptID: Attempt] = [:]
        var isDamaged = false
    }

    /// What a begin should answer.
    enum Verdict: Equatable {
        case charged(Int)
        case coolingDown(milliseconds: Int, failed: Int)
        case refused(LimiterFault)
    }

    var lives: [Owner: Life] = [:]
    var boot = 0
    /// Milliseconds since the boot.
    var up: Int

    /// Notices a reboot.
    mutating func look(at owner: Owner) -> Life? {
        guard var life = lives[owner] else { return nil }
        if life.boot != boot && !life.isDamaged {
            life.boot = boot
            life.waitsUntil = life.standing.count >= 6 ? up + 60_000 : 0
            lives[owner] = life
        }
        return life
    }

    mutating func begin(
        _ owner: Owner, _ enrolment: EnrolmentID, nonce: [UInt8], lastSeen: Int
    ) -> Verdict {
        guard var life = look(at: owner) else { return .refused(.unknownOwner) }
        guard life.id == enrolment else { return .refused(.otherEnrolment) }
        guard !life.isDamaged else { return .refused(.damaged) }
        defer { lives[owner] = life }
        if lastSeen > life.last {
            let count = max(6, life.standing.count)
            life.last = lastSeen
            life.standing = Array((lastSeen - count + 1)...lastSeen)
            life.waitsUntil = up + 60_000
            return .refused(.rolledBack)
        }
        if up < life.waitsUntil {
            return .coolingDown(milliseconds: life.waitsUntil - up, failed: life.standing.count)
        }
        guard life.nonces.insert(nonce).inserted else { return .refused(.nonceSeen) }
        life.last += 1
        life.standing.append(life.last)
        if life.standing.count >= 6 { life.waitsUntil = up + 60_000 }
        return .charged(life.last)
    }

    /// The answer; nil where there must be none.
    mutating func confirm(_ owner: Owner, _ id: AttemptID) -> UInt64? {
        guard var life = look(at: owner), let attempt = life.attempts[id], attempt.boot == boot
        else { return nil }
        if let answer = attempt.answer { return answer }
        guard up - attempt.at <= 60_000, !life.isDamaged else { return nil }
        let before = life.standing.count { $0 < attempt.charge }
        life.standing.removeAll { $0 <= attempt.charge }
        if life.standing.count < 6 { life.waitsUntil = 0 }
        life.attempts[id]?.answer = UInt64(before)
        lives[owner] = life
        return UInt64(before)
    }

    mutating func prove(_ owner: Owner) {
        guard var life = look(at: owner) else { return }
        life.standing = []
        life.waitsUntil = 0
        lives[owner] = life
    }

    mutating func repair(_ owner: Owner) {
        guard var life = lives[owner] else { return }
        life.isDamaged = false
        life.boot = boot
        life.standing = Array((life.last - 5)...life.last)
        life.waitsUntil = up + 60_000
        lives[owner] = life
    }

    mutating func standing(_ owner: Owner) -> Standing {
        guard let life = look(at: owner) else {
            return Standing(enrolment: nil, failed: 0, remainingMilliseconds: 0)
        }
        return Standing(
            enrolment: life.id, failed: UInt64(life.standing.count),
            remainingMilliseconds: UInt64(max(0, life.waitsUntil - up)))
    }
}
