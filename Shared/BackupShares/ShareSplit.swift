public import Secrets

/// The split of a phrase's block among three holders, who can restore it only together.
///
/// Two shares are random and the third is the block XOR both, so that two of them together say
/// nothing. A share travels as its payload: a prefix and the share.
public enum ShareSplit {
    public static let shareCount = 3
    /// Bytes of a payload as this program writes it.
    public static let payloadBytes = 220

    /// A decrypted key part of the earlier writers (constructor 0x8b90dd08, little-endian) and, as
    /// the length of its byte string, 215.
    static let prefix: [UInt8] = [0x08, 0xdd, 0x90, 0x8b, 0xd7]

    /// The three payloads of a block.
    ///
    /// Throws ``ShareError/notCanonical`` for a block that ``PhraseBlock`` would not read again.
    public static func split(
        _ block: borrowing SecretBytes, random: some RandomSource
    ) throws(ShareError) -> [SharedSecret] {
        _ = try PhraseBlock.decode(block)
        return shares(of: block, random: random).map { share in
            SharedSecret(
                SecretBytes(count: payloadBytes) { target in
                    target.copyBytes(from: prefix)
                    mix(share.bytes, into: tail(of: target, from: prefix.count))
                })
        }
    }

    /// What three payloads of any of the three generations of writers were split from, usually a
    /// block.
    ///
    /// The current one prefixes each share, an interim one split an already prefixed block; XOR of
    /// the whole payloads gives a prefixed block either way. The first made each share a key part
    /// of its own, with text of any length: there, each part is checked too. Throws
    /// ``ShareError/wrongCount(_:)`` or ``ShareError/payloadsDoNotFit``.
    public static func combine(_ payloads: [SharedSecret]) throws(ShareError) -> SecretBytes {
        guard payloads.count == shareCount else { throw .wrongCount(payloads.count) }
        let count = payloads[0].bytes.count
        guard payloads.allSatisfy({ $0.bytes.count == count }) else { throw .payloadsDoNotFit }
        let joined = SecretBytes(count: count) { target in
            for payload in payloads { mix(payload.bytes, into: target) }
        }
        let isPrefixedBlock =
            count == payloadBytes && joined.withBytes { $0.starts(with: prefix) }
        if isPrefixedBlock { return joined.slice(prefix.count..<count) }
        guard let text = keyPart(in: joined),
            payloads.allSatisfy({ keyPart(in: $0.bytes) == text })
        else { throw .payloadsDoNotFit }
        return joined.slice(text)
    }

    /// Two random shares and the text XOR both.
    static func shares(
        of text: borrowing SecretBytes, random: some RandomSource
    ) -> [SharedSecret] {
        let first = random.secret(text.count)
        let second = random.secret(text.count)
        let third = SecretBytes(count: text.count) { target in
            mix(text, into: target)
            mix(first, into: target)
            mix(second, into: target)
        }
        return [SharedSecret(first), SharedSecret(second), SharedSecret(third)]
    }

    /// XORs bytes into as many others.
    private static func mix(
        _ source: borrowing SecretBytes, into target: UnsafeMutableRawBufferPointer
    ) {
        source.withBytes { source in
            for index in target.indices { target[index] ^= source[index] }
        }
    }

    /// Where the text of a key part lies that is the whole payload; nil for any other payload.
    private static func keyPart(in payload: borrowing SecretBytes) -> Range<Int>? {
        payload.withBytes { payload in
            guard payload.starts(with: prefix.dropLast()) else { return nil }
            let text = TLBytes.range(in: payload, from: prefix.count - 1)
            return text.flatMap { $0.isEmpty ? nil : $0 }
        }
    }
}

/// What comes after the first bytes of a buffer, with indices from zero.
func tail(
    of buffer: UnsafeMutableRawBufferPointer, from start: Int
) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
}
