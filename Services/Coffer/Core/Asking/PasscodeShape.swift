internal import AuthorityMessages
internal import Secrets

/// Whether a passcode has the shape of its kind, as far as that can be told before it is sent.
///
/// The authority decides: it also knows which characters beside `0` to `9` are digits. What is
/// refused here it would refuse too.
enum PasscodeShape {
    /// Nil where the shape is right, else what is wrong with it.
    static func fault(of code: borrowing SecretBytes, kind: PasscodeKind) -> String? {
        let wanted =
            switch kind {
            case .digits4: 4
            case .digits6: 6
            case .alphanumeric: 0
            }
        return code.withBytes { bytes in
            var decoder = UTF8()
            var iterator = bytes.makeIterator()
            var count = 0
            while true {
                switch decoder.decode(&iterator) {
                case .error: return "A passcode is text in UTF-8."
                case .emptyInput:
                    let fits = wanted == 0 ? count > 0 : count == wanted
                    return fits ? nil : "A \(kind.text) passcode has exactly \(wanted) digits."
                case .scalarValue(let scalar):
                    count += 1
                    if wanted > 0, !isDigit(scalar) {
                        return "A \(kind.text) passcode has digits only."
                    }
                }
            }
        }
    }

    /// What a person should know of a passcode that is taken and can be guessed in no time; nil for
    /// others.
    static func warning(of code: borrowing SecretBytes) -> String? {
        let count = code.withBytes { bytes in
            bytes.count { $0 & 0xC0 != 0x80 }
        }
        guard count < shortest else { return nil }
        return "This passcode has only \(ShownText.count(UInt64(count), "character", "characters"))"
            + ". Whoever tries six and then one a minute may soon have it: \(shortest) or more are "
            + "better."
    }

    /// As many as the shortest kind of digits has.
    private static let shortest = 4

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return scalar.properties.numericValue != nil }
        return ("0"..."9").contains(scalar)
    }
}
