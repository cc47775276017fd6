/// A byte string of the TL language at the end of a document.
///
/// A length below 254 is one byte; a longer one is 254 and three bytes, little-endian. Zeros follow
/// up to a multiple of four bytes.
enum TLBytes {
    /// Where the bytes lie whose length is told at `start`; nil unless they, in their one form, are
    /// all that is left.
    static func range(in document: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
        guard let (headerBytes, count) = header(in: document, at: start) else { return nil }
        let first = start + headerBytes
        let paddingBytes = (4 - (headerBytes + count) % 4) % 4
        guard first + count + paddingBytes == document.count,
            document[(first + count)...].allSatisfy({ $0 == 0 })
        else { return nil }
        return first..<(first + count)
    }

    private static func header(
        in document: UnsafeRawBufferPointer, at start: Int
    ) -> (headerBytes: Int, count: Int)? {
        guard start < document.count else { return nil }
        let marker = document[start]
        if marker < longForm { return (1, Int(marker)) }
        guard marker == longForm, document.count - start >= 4 else { return nil }
        let count =
            Int(document[start + 1]) | Int(document[start + 2]) << 8
            | Int(document[start + 3]) << 16
        return count >= Int(longForm) ? (4, count) : nil
    }

    private static let longForm: UInt8 = 254
}
