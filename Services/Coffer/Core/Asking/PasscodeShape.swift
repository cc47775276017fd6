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

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return scalar.properties.numericValue != nil }
        return ("0"..."9").contains(scalar)
    }
}
