internal import CUTF8Proc
public import Secrets

/// Normalization of secret texts in UTF-8 that never puts them into a `String`.
///
/// Every buffer is in secret memory; utf8proc works in ours and allocates none of its own. Its
/// tables are those of Unicode 15.0 (utf8proc 2.8, Debian 12): a scalar that a later version
/// assigned passes unchanged, and with it a mark that would be reordered or composed.
public enum UnicodeText {
    /// The longest text in bytes.
    ///
    /// It bounds the sorting of marks, which takes the square of their number.
    public static let inputBytesMax = 16_384

    /// Normalization form C: canonical decomposition, then composition.
    public static func nfc(_ text: borrowing SecretBytes) throws(TextError) -> SecretBytes {
        try normalized(text, [UTF8PROC_STABLE, UTF8PROC_COMPOSE])
    }

    /// Normalization form KD: compatibility decomposition.
    public static func nfkd(_ text: borrowing SecretBytes) throws(TextError) -> SecretBytes {
        try normalized(text, [UTF8PROC_STABLE, UTF8PROC_DECOMPOSE, UTF8PROC_COMPAT])
    }

    /// Puts the ASCII digit in the place of every character whose whole-number value is 0 to 9, and
    /// leaves the others.
    ///
    /// A character is an extended grapheme cluster, as in Swift's `Character`: fullwidth,
    /// Arabic-Indic, superscript, circled, Roman and CJK digits are mapped, a digit with a mark on
    /// it is not. The result is never longer than the text.
    public static func digitsMapped(
        _ text: borrowing SecretBytes
    ) throws(TextError) -> SecretBytes {
        guard text.count <= inputBytesMax else { throw .tooLong }
        var written = 0
        let mapped = try SecretBytes(count: text.count) { target throws(TextError) in
            try text.withBytes { source throws(TextError) in
                var mapping = DigitMapping(source: source, target: target)
                written = try mapping.run()
            }
        }
        return mapped.slice(0..<written)
    }

    private static func normalized(
        _ text: borrowing SecretBytes, _ options: [utf8proc_option_t]
    ) throws(TextError) -> SecretBytes {
        guard text.count <= inputBytesMax else { throw .tooLong }
        let options = utf8proc_option_t(options.reduce(0) { $0 | $1.rawValue })
        let scalars = try decomposed(text, options)
        var written = 0
        // utf8proc encodes in place and ends with a zero byte, for which there is one element more.
        let encoded = SecretBytes(count: scalars.count + MemoryLayout<Int32>.stride) { target in
            scalars.withBytes { target.copyMemory(from: $0) }
            let elements = target.assumingMemoryBound(to: Int32.self)
            written = utf8proc_reencode(elements.baseAddress, elements.count - 1, options)
        }
        precondition((0..<encoded.count).contains(written), "utf8proc wrote out of its buffer")
        return encoded.slice(0..<written)
    }

    /// The scalars of the decomposition as 32-bit values, in canonical order.
    private static func decomposed(
        _ text: borrowing SecretBytes, _ options: utf8proc_option_t
    ) throws(TextError) -> SecretBytes {
        let count = text.withBytes { decompose($0, into: nil, 0, options) }
        guard count >= 0 else { throw .invalidUTF8 }
        return SecretBytes(count: count * MemoryLayout<Int32>.stride) { target in
            let elements = target.assumingMemoryBound(to: Int32.self)
            let again = text.withBytes {
                decompose($0, into: elements.baseAddress, count, options)
            }
            precondition(again == count, "utf8proc counts otherwise the second time")
        }
    }

    private static func decompose(
        _ text: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<Int32>?, _ count: Int,
        _ options: utf8proc_option_t
    ) -> Int {
        utf8proc_decompose(
            text.baseAddress?.assumingMemoryBound(to: UInt8.self), text.count, target, count,
            options)
    }
}
