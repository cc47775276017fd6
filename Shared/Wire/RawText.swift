/// Comparisons of bytes where they lie, for the names in every message.
///
/// A plain loop: `elementsEqual` takes both sides through iterators, and reading the names of a
/// header cost more so than parsing it.
extension UnsafeRawBufferPointer {
    /// Whether both hold the same bytes.
    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        for position in 0..<count where self[position] != other[position] { return false }
        return true
    }

    /// Whether the bytes are the text's UTF-8; String's `==` is canonical equivalence.
    func isText(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isSame(as: UnsafeRawBufferPointer($0)) }
    }
}
