public import Wire

/// What the owner's confirm key signs: a label, the owner, and 16 bytes that the limiter drew.
///
/// Each part comes after its length, as four bytes, most significant first, so that no two
/// statements have the same bytes.
public enum SignedStatement: String, Sendable {
    /// The key belongs to whoever enrols; over a challenge.
    case enrol = "coffer.limiter.enrol.v1"
    /// The code of an attempt was right; over the attempt's id.
    case confirm = "coffer.limiter.confirm.v1"
    /// The signer has the access key and asks for a use without a charge; over a challenge.
    case provePasscode = "coffer.limiter.prove.passcode.v1"
    /// The signer has the access key and only drops the charges; over a challenge.
    case proveRemoval = "coffer.limiter.prove.removal.v1"

    /// The bytes to sign.
    public func bytes(owner: Owner, drawn: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for part in [Array(rawValue.utf8), Array(owner.text.utf8), drawn] {
            let count = UInt32(part.count)
            for shift in stride(from: UInt32(24), through: 0, by: -8) {
                result.append(UInt8(truncatingIfNeeded: count >> shift))
            }
            result += part
        }
        return result
    }
}
