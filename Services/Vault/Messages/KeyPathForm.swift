/// The form of the paths that ``SignWithWallet`` takes, as far as a client can tell.
///
/// `m`, and for each of at most ten levels a slash, an index below 2^31 without leading zeros, and
/// `'` or `h` where it is hardened (BIP-32). Which of them a wallet has, the vault knows.
public enum KeyPathForm {
    private static let levelCountMax = 10
    /// An index has one bit less than its level.
    private static let indexLimit: UInt32 = 0x8000_0000

    public static func accepts(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.first == "m", parts.count <= levelCountMax + 1 else { return false }
        return parts.dropFirst().allSatisfy(isLevel)
    }

    private static func isLevel(_ text: Substring) -> Bool {
        var digits = text
        if digits.last == "'" || digits.last == "h" { digits.removeLast() }
        guard let index = UInt32(digits), index < indexLimit else { return false }
        // No sign and no zero in front.
        return digits == String(index)
    }
}
