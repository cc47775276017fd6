internal import Crypto
internal import Secrets

/// What this program writes into the free bytes of an envelope's message, so that even the one bit
/// of an envelope that tde2e does not look at cannot be changed unseen.
///
/// That is the sign bit of the ephemeral key: keys of either sign agree on the same secret, and the
/// message does not cover the key. Other writers put random bytes there, and readers look at none
/// of them. The mark is the last eight of those bytes, a code over the ephemeral key and the
/// random bytes before them. An envelope that bears the mark of the other sign is a changed one; an
/// envelope without a mark is another writer's.
enum EnvelopeMark {
    private static let byteCount = 8
    private static let label = Array("coffer.envelope.v1".utf8)

    /// Fills the rest of a prefix, which has at least 15 bytes.
    static func fill(
        _ prefix: UnsafeMutableRawBufferPointer, ephemeralKey: [UInt8],
        key: borrowing MessageKey, random: some RandomSource
    ) {
        let free = UnsafeMutableRawBufferPointer(rebasing: prefix.dropLast(byteCount))
        random.fill(free)
        let code = code(over: UnsafeRawBufferPointer(free), ephemeralKey, key)
        code.withBytes { tail(of: prefix, from: free.count).copyMemory(from: $0) }
    }

    /// Whether the rest of a prefix bears the mark of the same key with the other sign.
    static func tellsOfOtherSign(
        _ prefix: borrowing SecretBytes, ephemeralKey: [UInt8], key: borrowing MessageKey
    ) -> Bool {
        var other = ephemeralKey
        other[other.count - 1] ^= 0x80
        return prefix.withBytes { prefix in
            let free = UnsafeRawBufferPointer(rebasing: prefix.dropLast(byteCount))
            let mark = UnsafeRawBufferPointer(rebasing: prefix.suffix(byteCount))
            return code(over: free, other, key).withBytes { ConstantTime.equal($0, mark) }
        }
    }

    private static func code(
        over free: UnsafeRawBufferPointer, _ ephemeralKey: [UInt8], _ key: borrowing MessageKey
    ) -> SecretBytes {
        let code = HMAC.sha256(
            key: key.bytes, prefix: label + ephemeralKey, message: SecretBytes(copying: free))
        return code.slice(0..<byteCount)
    }
}
