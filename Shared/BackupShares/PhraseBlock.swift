public import Secrets

/// The block of 215 bytes in which a phrase is split: its words in lower case, parted by one space,
/// in UTF-8, with spaces after them.
///
/// Twenty-four of the longest English words fit exactly. Words are not looked up in any list: what
/// a phrase is worth, the comparison of identities says.
public enum PhraseBlock {
    public static let byteCount = 215
    /// The longest text that is read for the words in it.
    public static let textBytesMax = 16_384

    /// The block of the words in a text, whatever white space parts them.
    ///
    /// Throws ``ShareError/notText``, ``ShareError/noWords`` or ``ShareError/phraseTooLong``.
    public static func encode(_ text: borrowing SecretBytes) throws(ShareError) -> SecretBytes {
        let written = try write(text)
        return written.block
    }

    /// The phrase of a block, without the spaces after it.
    ///
    /// Its words are encoded again and must give the same block, else ``ShareError/notCanonical``.
    public static func decode(_ block: borrowing SecretBytes) throws(ShareError) -> SecretBytes {
        guard block.count == byteCount else { throw .notCanonical }
        let again: Written
        do throws(ShareError) {
            again = try write(block)
        } catch {
            throw .notCanonical
        }
        guard again.block.isEqual(to: block) else { throw .notCanonical }
        return again.block.slice(0..<again.phraseBytes)
    }

    private struct Written: ~Copyable {
        let block: SecretBytes
        let phraseBytes: Int
    }

    private static func write(_ text: borrowing SecretBytes) throws(ShareError) -> Written {
        guard text.count <= textBytesMax else { throw .phraseTooLong }
        var phraseBytes = 0
        let block = try SecretBytes(count: byteCount) { target throws(ShareError) in
            var writer = PhraseWriter(target: target)
            try text.withBytes { source throws(ShareError) in try writer.write(source) }
            phraseBytes = writer.written
            for index in phraseBytes..<target.count { target[index] = UInt8(ascii: " ") }
        }
        guard phraseBytes > 0 else { throw .noWords }
        return Written(block: block, phraseBytes: phraseBytes)
    }
}

/// Writes the words of a text in lower case with one space between them.
///
/// One scalar at a time is all that leaves secret memory.
private struct PhraseWriter {
    let target: UnsafeMutableRawBufferPointer
    var written = 0

    mutating func write(_ source: UnsafeRawBufferPointer) throws(ShareError) {
        var codec = UTF8()
        var rest = source.makeIterator()
        var isSpaceOwed = false
        while true {
            switch codec.decode(&rest) {
            case .emptyInput: return
            case .error: throw .notText
            case .scalarValue(let scalar) where scalar.properties.isWhitespace:
                isSpaceOwed = written > 0
            case .scalarValue(let scalar):
                guard scalar.properties.generalCategory != .control else { throw .notText }
                if isSpaceOwed { try put(UInt8(ascii: " ")) }
                isSpaceOwed = false
                for byte in scalar.properties.lowercaseMapping.utf8 { try put(byte) }
            }
        }
    }

    private mutating func put(_ byte: UInt8) throws(ShareError) {
        guard written < target.count else { throw .phraseTooLong }
        target[written] = byte
        written += 1
    }
}
