internal import AuthorityMessages
internal import Secrets
internal import UnicodeText

/// A passcode as it is compared: the one form of all the ways to type it.
enum PasscodeText {
    /// The longest passcode in bytes, before and after normalization.
    static let bytesMax = 4_096

    /// Digits of any script become ASCII digits in the numeric kinds; other text is put into
    /// Unicode's composed form and otherwise left alone.
    static func normalize(
        _ typed: borrowing SecretBytes, _ kind: PasscodeKind
    ) throws(TextError) -> SecretBytes {
        switch kind {
        case .digits4, .digits6: try UnicodeText.digitsMapped(typed)
        case .alphanumeric: try UnicodeText.nfc(typed)
        }
    }

    /// The passcode of an attempt.
    ///
    /// The form of its kind is not asked for: another form makes it a wrong passcode, which counts.
    static func ofAttempt(
        _ typed: borrowing SecretBytes, _ kind: PasscodeKind
    ) throws(CredentialFault) -> SecretBytes {
        guard (1...bytesMax).contains(typed.count) else { throw .invalidCode }
        do throws(TextError) {
            let code = try normalize(typed, kind)
            guard code.count <= bytesMax else { throw .tooLong }
            return code
        } catch {
            throw .invalidCode
        }
    }

    /// A new passcode, which must have the form of its kind.
    static func ofSetup(
        _ typed: borrowing SecretBytes, _ kind: PasscodeKind
    ) throws(CredentialFault) -> SecretBytes {
        let code = try ofAttempt(typed, kind)
        guard code.withBytes({ hasForm($0, of: kind) }) else { throw .invalidCode }
        return code
    }

    private static func hasForm(_ code: UnsafeRawBufferPointer, of kind: PasscodeKind) -> Bool {
        let digits: Int
        switch kind {
        case .digits4: digits = 4
        case .digits6: digits = 6
        case .alphanumeric: return !code.isEmpty
        }
        return code.count == digits
            && code.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
