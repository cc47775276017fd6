import AuthorityMessages
import Clocks
import Crypto
import LimiterCore
import Secrets
import Wire

@testable import AuthorityCore

/// The credential record, and a whole verification put together from the parts of authority and
/// limiter that decide it.
let credentialOperations: [String: Operation] = [
    "encodeCredential": Operation(
        inputs: ["fields"], matches: { $0.matchesAsJSON($1) }
    ) { inputs in
        .ok(.text(try record(of: inputs.object("fields")).encode()))
    },
    "decodeCredential": Operation(inputs: ["record"]) { inputs in
        let document = SecretBytes(copying: try recordBytes(inputs.object("record")))
        do throws(CredentialRecordError) {
            return .ok(members(of: try CredentialRecord(decoding: document)))
        } catch {
            return .error(.other)
        }
    },
    "verify": Operation(
        inputs: [
            "record", "deviceSecret", "code", "referenceId", "attempts", "boot", "uptime",
        ], matches: isSameVerification
    ) { inputs in
        .ok(try verification(inputs))
    },
    "namespace": Operation(inputs: ["environment", "peerId"]) { inputs in
        let name = try inputs.string("environment")
        guard let environment = Namespace.TelegramEnvironment(rawValue: name),
            let peer = Int64(try inputs.string("peerId"))
        else { return .error(.other) }
        return .ok(.string(Namespace.telegram(environment, peer: peer).text))
    },
]

// MARK: The record

private func record(of fields: JSONObject) throws -> CredentialRecord {
    guard try fields.integer("version") == CredentialRecord.version else {
        throw VectorProblem("a record of another version is not written")
    }
    var record = CredentialRecord(
        newWith: try fields.string("id"), accessKey: SharedSecret(SecretBytes(count: 0)))
    record.revision = try fields.uint64("revision")
    record.managedPasscode = try fields.bool("managedPasscode")
    record.protection = try fields.bool("walletProtection")
    record.unprotectedKey = try fields.optionalHex("unprotectedKey").map {
        SharedSecret(SecretBytes(copying: $0))
    }
    record.biometricAccount = try fields.optionalString("biometricAccount")
    record.pendingBiometricAccount = try fields.optionalString("pendingBiometricAccount")
    record.biometricCleanup = try fields.strings("biometricCleanup")
    if let kind = try fields.optionalIdentifier("kind", as: PasscodeKind.self) {
        record.passcode = CredentialRecord.Passcode(
            kind: kind, salt: try fields.hex("salt"), iterations: try fields.integer("iterations"),
            wrappedKey: try fields.hex("wrappedKey"))
    }
    return record
}

private func members(of record: CredentialRecord) -> Value {
    var members: [String: Value] = [
        "version": .integer(Int128(CredentialRecord.version)), "id": .string(record.id),
        "revision": .integer(Int128(record.revision)),
        "managedPasscode": .bool(record.managedPasscode),
        "walletProtection": .bool(record.protection),
        "biometricCleanup": .array(record.biometricCleanup.map { .string($0) }),
    ]
    members["biometricAccount"] = record.biometricAccount.map { .string($0) }
    members["pendingBiometricAccount"] = record.pendingBiometricAccount.map { .string($0) }
    if let key = record.unprotectedKey { members["unprotectedKey"] = .hex(key.bytes) }
    if let passcode = record.passcode {
        members["kind"] = .string(passcode.kind.text)
        members["salt"] = .hex(passcode.salt)
        members["iterations"] = .integer(Int128(passcode.iterations))
        members["wrappedKey"] = .hex(passcode.wrappedKey)
    }
    return .object(members)
}

// MARK: A verification

/// What came of it and the attempts record afterwards.
private func verification(_ inputs: JSONObject) throws -> Value {
    let now = moment(try inputs.string("boot"), try inputs.number("uptime"))
    var ledger = try inputs.optionalObject("attempts").map { try storedLedger($0) }
    let outcome = try outcome(of: inputs, &ledger, at: now)
    return .object([
        "outcome": .object(outcome), "attemptsAfter": ledger.map { state($0.record) } ?? .null,
    ])
}

private func outcome(
    of inputs: JSONObject, _ ledger: inout AttemptLedger?, at now: BootMoment
) throws -> [String: Value] {
    let document = SecretBytes(copying: try recordBytes(inputs.object("record")))
    guard let record = try? CredentialRecord(decoding: document), let passcode = record.passcode,
        try inputs.optionalString("referenceId") ?? record.id == record.id,
        PasscodeWrapper.iterationsAllowed.contains(passcode.iterations),
        let deviceSecret = try inputs.optionalHex("deviceSecret"),
        let code = try? PasscodeText.ofAttempt(inputs.secretText("code"), passcode.kind)
    else { return ["error": .string(Refused.other.rawValue)] }
    var charged = ledger ?? AttemptLedger(enrolledAt: now)
    let verdict = charged.begin(lastSeen: 0, nonceIsSeen: false, at: now)
    ledger = charged
    guard case .charged(let charge) = verdict else {
        return [
            "error": .string(Refused.cooldown.rawValue),
            "remaining": .number(Double(charged.remainingNanoseconds(at: now)) / 1e9),
        ]
    }
    let password = HMAC.sha256(
        key: SecretBytes(copying: deviceSecret), prefix: Array("telegram.passcode.v1\0".utf8),
        message: code)
    let key = try PBKDF2.sha256(
        password: password, salt: passcode.salt, iterations: passcode.iterations,
        count: PasscodeWrapper.keyBytes)
    do throws(PasscodeWrapperError) {
        let accessKey = try PasscodeWrapper.open(
            passcode.wrappedKey, under: key, credential: record.id, kind: passcode.kind)
        _ = charged.confirm(charge: charge)
        ledger = charged
        return ["accessKey": .hex(accessKey)]
    } catch {
        let refused: Refused = error == .wrongKey ? .invalidCode : .other
        return ["error": .string(refused.rawValue)]
    }
}

/// Refusals compare by what must be told apart, records by what counts.
private func isSameVerification(_ expected: Value, _ answer: Value) -> Bool {
    guard case .object(let expected) = expected, case .object(let answer) = answer,
        Set(expected.keys) == ["outcome", "attemptsAfter"],
        case .object(var wanted) = expected["outcome"], case .object(let given) = answer["outcome"]
    else { return false }
    if case .string(let category) = wanted["error"] {
        wanted["error"] = .string(Refused(category: category).rawValue)
    }
    return Value.object(wanted).matches(.object(given))
        && isSameState(expected["attemptsAfter"] ?? .null, answer["attemptsAfter"] ?? .null)
}
