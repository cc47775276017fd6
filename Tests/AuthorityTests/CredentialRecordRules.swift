import AuthorityMessages
import Secrets
import Testing

@testable import AuthorityCore

/// The record is the passcode document's, to the byte, and one that contradicts itself is refused.
struct CredentialRecordRules {
    private static let id = "00000000-0000-4000-8000-000000000001"
    private static let salt = "EBESExQVFhcYGRobHB0eHw=="
    private static let wrapper =
        "oKGio6SlpqeoqaqrzmjdtjY+T60N/XjwGrg7lrLfkwYJWRHQw0LW3/P3o3YKa6bE3eTg2CtE5OwSLwPk"
    private static let key = "QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8="

    private static let protected =
        #"{"version":1,"id":"\#(id)","revision":7,"managedPasscode":true,"kind":"digits4","#
        + #""salt":"\#(salt)","iterations":600000,"wrappedKey":"\#(wrapper)","#
        + #""walletProtection":true,"biometricCleanup":[]}"#
    private static let open =
        #"{"version":1,"id":"\#(id)","revision":1,"managedPasscode":true,"#
        + #""unprotectedKey":"\#(key)","walletProtection":false,"biometricCleanup":[]}"#

    private func decode(_ text: String) -> Result<CredentialRecord, CredentialRecordError> {
        do throws(CredentialRecordError) {
            let document = SecretBytes(copying: Array(text.utf8))
            return .success(try CredentialRecord(decoding: document))
        } catch {
            return .failure(error)
        }
    }

    private func error(_ text: String) -> CredentialRecordError? {
        if case .failure(let error) = decode(text) { error } else { nil }
    }

    private func text(_ record: CredentialRecord) -> String {
        let document = record.encode()
        return document.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [protected, open])
    func whatIsReadIsWrittenAgainToTheByte(_ document: String) throws {
        #expect(text(try decode(document).get()) == document)
    }

    @Test func everyMemberIsRead() throws {
        let record = try decode(Self.protected).get()
        #expect(record.id == Self.id)
        #expect(record.revision == 7)
        #expect(record.managedPasscode)
        #expect(record.protection)
        #expect(record.unprotectedKey == nil)
        let passcode = try #require(record.passcode)
        #expect(passcode.kind == .digits4)
        #expect(passcode.salt == Array(0x10...0x1f))
        #expect(passcode.iterations == 600_000)
        #expect(passcode.wrappedKey.count == 60)
        let key = try #require(try decode(Self.open).get().unprotectedKey)
        #expect(key.bytes.open == Array(0x40...0x5f))
    }

    @Test func biometricRoutesAreKept() throws {
        let document = Self.open.replacing(
            #""biometricCleanup":[]"#,
            with: #""biometricAccount":"biometric.A","pendingBiometricAccount":"biometric.B","#
                + #""biometricCleanup":["biometric.C"]"#)
        #expect(text(try decode(document).get()) == document)
    }

    @Test func unknownMembersAreIgnoredAndNullIsAbsent() throws {
        let document = Self.protected.replacing(
            "{\"version\"", with: #"{"later":[1,{"a":2}],"unprotectedKey":null,"version""#)
        #expect(text(try decode(document).get()) == Self.protected)
    }

    @Test(arguments: [0, 2, -1, 99])
    func anotherVersionIsToldApartFromDamage(_ version: Int) {
        #expect(error(#"{"version":\#(version)}"#) == .unsupportedVersion)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"version":"1"}"#, #"{"version":1.0}"#, #"{"version":1}"#,
        #"{"version":1,"version":1}"#,
    ])
    func whatIsNoRecordIsMalformed(_ document: String) {
        #expect(error(document) == .malformed)
    }

    /// Each takes one rule away from a record that is good.
    @Test(arguments: [
        (#""id":"\#(id)""#, #""id":"""#),
        (#""revision":7"#, #""revision":0"#),
        (#""revision":7"#, #""revision":-1"#),
        (#""revision":7"#, #""revision":9007199254740993"#),
        (#""revision":7"#, #""revision":18446744073709551615"#),
        (#""revision":7"#, #""revision":7,"revision":7"#),
        (#""managedPasscode":true,"#, ""),
        (#","biometricCleanup":[]"#, ""),
        (#""biometricCleanup":[]"#, #""biometricCleanup":null"#),
        (#""kind":"digits4""#, #""kind":"digits5""#),
        (#""kind":"digits4","#, ""),
        (#""salt":"\#(salt)","#, ""),
        (#""salt":"\#(salt)""#, #""salt":"EBESExQVFhcYGRobHB0e""#),
        (#""iterations":600000,"#, ""),
        (#""wrappedKey":"\#(wrapper)","#, ""),
        (#""wrappedKey":"\#(wrapper)""#, #""wrappedKey":"\#(key)""#),
        (#""walletProtection":true"#, #""walletProtection":false"#),
        (#""walletProtection""#, #""protectionEnabled""#),
        (#""walletProtection":true"#, #""unprotectedKey":"\#(key)","walletProtection":true"#),
    ])
    func aRecordThatBreaksARuleIsMalformed(_ rule: (good: String, bad: String)) {
        #expect(Self.protected.contains(rule.good))
        #expect(error(Self.protected.replacing(rule.good, with: rule.bad)) == .malformed)
    }

    @Test func anOpenRecordNeedsAKeyOf32Bytes() {
        let short = Self.open.replacing(Self.key, with: Self.salt)
        #expect(error(short) == .malformed)
        #expect(
            error(
                Self.open.replacing("\"walletProtection\":false", with: "\"walletProtection\":true")
            ) == .malformed)
    }

    @Test func iterationsOutOfBoundsAreForWhoeverTriesThePasscode() throws {
        let document = Self.protected.replacing("600000", with: "1")
        #expect(try decode(document).get().passcode?.iterations == 1)
    }

    @Test func anyBytesGiveARecordOrAnError() {
        var bytes = Array(Self.protected.utf8)
        for index in bytes.indices {
            let good = bytes[index]
            for value: UInt8 in [0, 0x22, 0x7D, 0xFF] {
                bytes[index] = value
                _ = try? CredentialRecord(decoding: SecretBytes(copying: bytes))
            }
            bytes[index] = good
            _ = try? CredentialRecord(decoding: SecretBytes(copying: Array(bytes[..<index])))
        }
        #expect(error(String(decoding: bytes, as: UTF8.self)) == nil)
    }

    @Test func noRevisionIsFollowedByALowerOne() throws {
        var record = try decode(Self.open).get()
        #expect(record.nextRevision == 2)
        record.revision = 1 << 53
        #expect(record.nextRevision == 1 << 53)
        #expect(try decode(text(record)).get().revision == 1 << 53)
    }
}
