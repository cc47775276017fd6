import Clocks
import LimiterCore
import LimiterMessages
import Testing

@Suite struct AttemptLedgerRules {
    static func at(_ seconds: Double, _ boot: String = "A") -> BootMoment {
        BootMoment(bootID: BootID(boot), nanoseconds: UInt64(seconds * 1e9))
    }

    /// A ledger with so many charges and, from six on, the wait that the last one set.
    static func ledger(_ count: Int, last: UInt64? = nil, until: Double = 0) -> AttemptLedger {
        AttemptLedger(
            record: AttemptsRecord(count: count, boot: BootID("A"), deadline: until),
            lastCharge: last ?? UInt64(count))
    }

    @Test func fiveAreFreeAndTheSixthLocksForSixtySeconds() {
        var ledger = AttemptLedger(enrolledAt: Self.at(100))
        for number in 1...5 as ClosedRange<UInt64> {
            let now = Self.at(100 + Double(number))
            #expect(ledger.begin(lastSeen: 0, nonceIsSeen: false, at: now) == .charged(number))
            #expect(ledger.remainingMilliseconds(at: now) == 0)
        }
        #expect(ledger.begin(lastSeen: 5, nonceIsSeen: false, at: Self.at(106)) == .charged(6))
        #expect(ledger.remainingMilliseconds(at: Self.at(106)) == 60_000)
        #expect(ledger.begin(lastSeen: 6, nonceIsSeen: false, at: Self.at(165.999)) == .coolingDown)
        #expect(ledger.record.count == 6)
    }

    @Test func theWaitEndsAtItsEndAndTheCountStays() {
        var ledger = Self.ledger(6, until: 160)
        #expect(ledger.remainingMilliseconds(at: Self.at(159.999)) == 1)
        #expect(ledger.remainingMilliseconds(at: Self.at(160)) == 0)
        #expect(ledger.begin(lastSeen: 6, nonceIsSeen: false, at: Self.at(160)) == .charged(7))
        #expect(ledger.record.count == 7)
        #expect(ledger.remainingMilliseconds(at: Self.at(160)) == 60_000)
    }

    @Test func remainingTimeIsRoundedUp() {
        let ledger = Self.ledger(6, until: 160)
        let now = BootMoment(bootID: BootID("A"), nanoseconds: 159_999_999_999)
        #expect(ledger.remainingMilliseconds(at: now) == 1)
    }

    @Test func aRebootDropsNoCountAndWaitsAfresh() {
        var locked = Self.ledger(6, until: 160)
        locked.meet(Self.at(3, "B"))
        #expect(locked.record == AttemptsRecord(count: 6, boot: BootID("B"), deadline: 63))
        var free = Self.ledger(5)
        free.meet(Self.at(3, "B"))
        #expect(free.record == AttemptsRecord(count: 5, boot: BootID("B"), deadline: 0))
    }

    @Test func theSameBootChangesNothing() {
        var ledger = Self.ledger(9, until: 50)
        let before = ledger
        ledger.meet(Self.at(1_000))
        #expect(ledger == before)
    }

    @Test func theCountStopsAtAMillion() {
        var ledger = Self.ledger(999_999, until: 10)
        #expect(
            ledger.begin(lastSeen: 0, nonceIsSeen: false, at: Self.at(11)) == .charged(1_000_000))
        #expect(
            ledger.begin(lastSeen: 0, nonceIsSeen: false, at: Self.at(100)) == .charged(1_000_001))
        #expect(ledger.record.count == 1_000_000)
        #expect(ledger.record.deadline == 160)
    }

    @Test func anAttemptThatWasHereIsNotChargedAgain() {
        var ledger = Self.ledger(2)
        let before = ledger
        #expect(ledger.begin(lastSeen: 2, nonceIsSeen: true, at: Self.at(1)) == .nonceSeen)
        #expect(ledger == before)
    }

    @Test(arguments: [(0, 6), (5, 6), (6, 6), (40, 40)])
    func aLedgerThatIsBehindCountsSixAndWaits(_ count: Int, _ wanted: Int) {
        var ledger = Self.ledger(count, last: 50)
        #expect(ledger.begin(lastSeen: 51, nonceIsSeen: true, at: Self.at(7)) == .rolledBack)
        #expect(ledger.lastCharge == 51)
        #expect(ledger.record.count == wanted)
        #expect(ledger.record.deadline == 67)
    }

    @Test func theLastNumberIsNotPassed() {
        let limit = Begin.chargeLimit
        var ledger = Self.ledger(0, last: limit - 1)
        #expect(
            ledger.begin(lastSeen: limit - 1, nonceIsSeen: false, at: Self.at(7))
                == .charged(limit))
        let before = ledger
        #expect(
            ledger.begin(lastSeen: limit, nonceIsSeen: false, at: Self.at(7)) == .numbersUsedUp)
        #expect(ledger == before)
    }

    /// Count and last charge before, the confirmed charge, count after, failed before, wait kept.
    @Test(
        arguments: [
            (1, 1, 1, 0, 0, false), (4, 4, 4, 0, 3, false), (4, 4, 2, 2, 1, false),
            (9, 20, 14, 6, 2, true), (9, 20, 15, 5, 3, false), (3, 20, 15, 3, 0, false),
            (6, 50, 44, 6, 0, true), (0, 20, 20, 0, 0, false),
            (1_000_000, 2_000_000, 1, 1_000_000, 0, true),
        ] as [(Int, UInt64, UInt64, Int, UInt64, Bool)])
    func aConfirmationDropsTheChargesUpToItsOwn(
        _ count: Int, _ last: UInt64, _ charge: UInt64, _ after: Int, _ failedBefore: UInt64,
        _ waits: Bool
    ) {
        var ledger = Self.ledger(count, last: last, until: 60)
        #expect(ledger.confirm(charge: charge) == failedBefore)
        #expect(ledger.record.count == after)
        #expect((ledger.record.deadline > 0) == waits)
        #expect(ledger.lastCharge == last)
    }

    @Test func aChargeThatWasNeverMadeDropsNothing() {
        var ledger = Self.ledger(8, until: 60)
        let before = ledger
        #expect(ledger.confirm(charge: 9) == 0)
        #expect(ledger == before)
    }

    @Test func clearingDropsAllAndKeepsTheNumber() {
        var ledger = Self.ledger(8, until: 60)
        ledger.clear()
        #expect(ledger == Self.ledger(0, last: 8))
    }

    @Test(arguments: [
        ("", 6), ("{}", 6), (#"{"count":3,"boot":"A","deadline":-1}"#, 6),
        (#"{"count":70,"boot":"A","deadline":-1}"#, 70),
        (#"{"count":-9,"boot":"A","deadline":0}"#, 6),
        (#"{"count":2000000,"boot":"A","deadline":0}"#, 1_000_000),
    ]) func aRepairedLedgerHasSixAttemptsOrMoreAndWaits(_ record: String, _ count: Int) {
        let ledger = AttemptLedger(
            repairing: Array(record.utf8), lastCharge: 9, at: Self.at(5))
        #expect(ledger.record == AttemptsRecord(count: count, boot: BootID("A"), deadline: 65))
        #expect(ledger.lastCharge == 9)
    }
}
