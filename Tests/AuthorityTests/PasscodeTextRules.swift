import AuthorityMessages
import Secrets
import Testing

@testable import AuthorityCore

/// All ways to type a passcode are one; a new one must have its kind's form, a tried one need not.
struct PasscodeTextRules {
    private func setup(_ typed: String, _ kind: PasscodeKind) -> String? {
        let code = try? PasscodeText.ofSetup(SecretBytes(copying: Array(typed.utf8)), kind)
        return code?.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func attempt(_ typed: [UInt8], _ kind: PasscodeKind) -> [UInt8]? {
        let code = try? PasscodeText.ofAttempt(SecretBytes(copying: typed), kind)
        return code?.withBytes { Array($0) }
    }

    @Test(arguments: [
        ("1234", PasscodeKind.digits4, "1234"), ("１２３４", .digits4, "1234"),
        ("٢٤٦٨١٠", .digits6, "246810"), (" a b ", .alphanumeric, " a b "),
        ("e\u{301}", .alphanumeric, "\u{e9}"), ("A", .alphanumeric, "A"),
    ])
    func whatHasTheFormIsTaken(_ typed: String, _ kind: PasscodeKind, _ code: String) {
        #expect(setup(typed, kind).map { Array($0.utf8) } == Array(code.utf8))
    }

    @Test(arguments: [
        ("", PasscodeKind.alphanumeric), ("", .digits4), ("123", .digits4), ("12345", .digits4),
        ("12 34", .digits4), ("12a4", .digits4), ("1234", .digits6), ("1234567", .digits6),
    ])
    func whatHasNotIsRefused(_ typed: String, _ kind: PasscodeKind) {
        #expect(setup(typed, kind) == nil)
    }

    @Test func anAttemptOfAnotherFormIsStillAnAttempt() {
        #expect(attempt(Array("12a".utf8), .digits4) == Array("12a".utf8))
    }

    @Test func whatIsNoTextOrTooLongIsNoAttempt() {
        #expect(attempt([0xFF], .alphanumeric) == nil)
        #expect(attempt([], .digits4) == nil)
        #expect(attempt([UInt8](repeating: 0x61, count: 4_096), .alphanumeric) != nil)
        #expect(attempt([UInt8](repeating: 0x61, count: 4_097), .alphanumeric) == nil)
    }
}
