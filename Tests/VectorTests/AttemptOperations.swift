import Clocks
import LimiterCore
import Wire

/// The attempts record and its rules, from the limiter's own decisions.
let attemptOperations: [String: Operation] = [
    "decodeAttempts": Operation(
        inputs: ["record", "boot", "uptime"], matches: isSameRecord
    ) { inputs in
        let bytes = try recordBytes(inputs.object("record"))
        let now = moment(try inputs.string("boot"), try inputs.number("uptime"))
        do {
            return .ok(state(try AttemptsRecord(decoding: bytes, at: now)))
        } catch {
            return .error(.other)
        }
    },
    "limiterTrace": Operation(inputs: ["initial", "steps"], matches: isSameTrace) { inputs in
        var ledger = try inputs.optionalObject("initial").map { initial in
            try storedLedger(initial)
        }
        return .ok(
            .array(
                try inputs.objects("steps").map { step in
                    try step.refuseUnknownKeys(["boot", "uptime", "event"])
                    let now = moment(try step.string("boot"), try step.number("uptime"))
                    var next = ledger ?? AttemptLedger(enrolledAt: now)
                    defer { ledger = next }
                    return try take(step.string("event"), into: &next, at: now)
                }))
    },
]

/// The ledger of a record that was stored; its charges are those that the record counts.
func storedLedger(_ stored: JSONObject) throws -> AttemptLedger {
    let count = try stored.integer("count")
    let record = AttemptsRecord(
        count: count, boot: BootID(try stored.string("boot")),
        deadline: try stored.optionalNumber("deadline") ?? 0)
    return AttemptLedger(record: record, lastCharge: UInt64(count))
}

/// One event of a trace: whether it was taken, the wait, and the record afterwards.
private func take(
    _ event: String, into ledger: inout AttemptLedger, at now: BootMoment
) throws -> Value {
    ledger.meet(now)
    let wait = ledger.remainingNanoseconds(at: now)
    var isAllowed = wait == 0
    switch event {
    case "check": break
    case "wrong", "right":
        let verdict = ledger.begin(lastSeen: 0, nonceIsSeen: false, at: now)
        if case .charged(let charge) = verdict {
            if event == "right" { _ = ledger.confirm(charge: charge) }
        } else if verdict != .coolingDown || isAllowed {
            throw VectorProblem("an attempt ended in \(verdict)")
        }
    case "clear":
        ledger.clear()
        isAllowed = true
    default: throw VectorProblem("unknown event")
    }
    let seconds = event == "clear" ? 0 : Double(wait) / 1e9
    return .object([
        "allowed": .bool(isAllowed), "remaining": .number(seconds), "state": state(ledger.record),
    ])
}

func moment(_ boot: String, _ uptime: Double) -> BootMoment {
    BootMoment(bootID: BootID(boot), nanoseconds: UInt64((uptime * 1e9).rounded()))
}

func recordBytes(_ document: JSONObject) throws -> [UInt8] {
    if let text = try document.optionalString("text") { return Array(text.utf8) }
    return try document.hex("hex")
}

func state(_ record: AttemptsRecord) -> Value {
    .object([
        "count": .integer(Int128(record.count)), "boot": .string(record.boot.text),
        "deadline": .number(record.deadline),
    ])
}

private func isSameTrace(_ expected: Value, _ answer: Value) -> Bool {
    guard case .array(let expected) = expected, case .array(let answer) = answer,
        expected.count == answer.count
    else { return false }
    return zip(expected, answer).allSatisfy { expected, answer in
        guard case .object(let expected) = expected, case .object(let answer) = answer else {
            return false
        }
        return expected.keys == answer.keys
            && ["allowed", "remaining"].allSatisfy {
                (expected[$0] ?? .null).matches(answer[$0] ?? .null)
            } && isSameState(expected["state"] ?? .null, answer["state"] ?? .null)
    }
}

/// Equal, where no deadline is the same as the deadline 0.
private func isSameRecord(_ expected: Value, _ answer: Value) -> Bool {
    withoutEmptyDeadline(expected).matches(withoutEmptyDeadline(answer))
}

/// As a record, where one that counts nothing is the same as none, and one below six may name the
/// boot in which it was looked at.
func isSameState(_ expected: Value, _ answer: Value) -> Bool {
    func plain(_ value: Value) -> Value {
        guard case .object(var members) = withoutEmptyDeadline(value),
            case .integer(let count) = members["count"], count < 6
        else { return withoutEmptyDeadline(value) }
        members["boot"] = nil
        return count == 0 && members["deadline"] == nil ? .null : .object(members)
    }
    return plain(expected).matches(plain(answer))
}

private func withoutEmptyDeadline(_ value: Value) -> Value {
    guard case .object(var members) = value else { return value }
    if members["deadline"]?.matches(.integer(0)) ?? false { members["deadline"] = nil }
    if members["deadline"]?.matches(.null) ?? false { members["deadline"] = nil }
    return .object(members)
}
