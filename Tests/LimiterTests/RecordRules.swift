import Clocks
import LimiterCore
import TestKit
import Testing

@Suite struct AttemptsRecordRules {
    static let now = BootMoment(bootID: BootID("A"), nanoseconds: 1_000_000_000_000)

    @Test(arguments: [
        (#"{"count":0,"boot":"A","deadline":0}"#, 0, 0.0),
        (#"{"count":3,"boot":"A","deadline":null}"#, 3, 0),
        (#"{"count":6,"boot":"A","deadline":1059.5}"#, 6, 1_059.5),
        (#"{"count":6,"boot":"A","deadline":1060}"#, 6, 1_060),
        (#"{"count":6,"boot":"A","deadline":1.06e3}"#, 6, 1_060),
        (#"{"count":6,"boot":"A","deadline":10}"#, 6, 10),
        (#"{"count":6,"boot":"Z","deadline":999999}"#, 6, 999_999),
        (#"{"count":1000000,"boot":"A","deadline":0,"more":[]}"#, 1_000_000, 0),
        (#" { "deadline" : 0 , "boot" : "A" , "count" : 1 } "#, 1, 0),
    ]) func aRecordThatCanBeTrueIsRead(_ text: String, _ count: Int, _ deadline: Double) throws {
        let record = try AttemptsRecord(decoding: Array(text.utf8), at: Self.now)
        #expect(record.count == count)
        #expect(record.deadline == deadline)
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "3", "{", #"{"count":1,"boot":"A"}"#,
        #"{"count":1,"deadline":0}"#, #"{"boot":"A","deadline":0}"#,
        #"{"count":null,"boot":"A","deadline":0}"#,
        #"{"count":-1,"boot":"A","deadline":0}"#,
        #"{"count":1000001,"boot":"A","deadline":0}"#,
        #"{"count":9223372036854775808000,"boot":"A","deadline":0}"#,
        #"{"count":1.0,"boot":"A","deadline":0}"#,
        #"{"count":1e0,"boot":"A","deadline":0}"#,
        #"{"count":"1","boot":"A","deadline":0}"#,
        #"{"count":true,"boot":"A","deadline":0}"#,
        #"{"count":0,"count":6,"boot":"A","deadline":0}"#,
        #"{"count":6,"boot":"A","deadline":0}x"#,
        #"{"count":6,"boot":5,"deadline":0}"#,
        #"{"count":6,"boot":"A","deadline":-1}"#,
        #"{"count":6,"boot":"A","deadline":1e999}"#,
        #"{"count":6,"boot":"A","deadline":NaN}"#,
        #"{"count":6,"boot":"A","deadline":"0"}"#,
        #"{"count":6,"boot":"A","deadline":1060.001}"#,
        #"{"count":6,"boot":"A","deadline":1061}"#,
        #"{"count":6,"boot":"Z","deadline":-1}"#,
    ]) func anythingElseIsRefused(_ text: String) {
        #expect(throws: AttemptsRecord.Invalid.self) {
            try AttemptsRecord(decoding: Array(text.utf8), at: Self.now)
        }
    }

    @Test func aRecordAlwaysReadsItsOwnBytes() throws {
        var generator = SeededRandom(seed: 11)
        for _ in 0..<20_000 {
            // Fresh deadlines at any uptime up to a century: none may look too far ahead.
            let up = UInt64.random(in: 0...3_200_000_000_000_000_000, using: &generator)
            let now = BootMoment(bootID: BootID("A"), nanoseconds: up)
            var ledger = AttemptLedger(
                record: AttemptsRecord(count: 5, boot: now.bootID, deadline: 0), lastCharge: 5)
            #expect(ledger.begin(lastSeen: 5, nonceIsSeen: false, at: now) == .charged(6))
            let read = try AttemptsRecord(decoding: ledger.record.encoded(), at: now)
            #expect(read == ledger.record)
            #expect((59_999...60_000).contains(ledger.remainingMilliseconds(at: now)))
        }
    }

    @Test func theBytesAreTheDocumentOfVersionOne() {
        let record = AttemptsRecord(count: 6, boot: BootID("A"), deadline: 165.5)
        let text = String(decoding: record.encoded(), as: UTF8.self)
        #expect(text == #"{"count":6,"boot":"A","deadline":165.5}"#)
    }
}
