/// Comparison whose time says nothing about where two values differ.
public enum ConstantTime {
    /// Whether the bytes are the same.
    ///
    /// Only the counts, which are not secret, decide the time. The loop is kept from the optimiser,
    /// which could otherwise leave it at the first difference: it folds every byte into one
    /// accumulator and looks at that once.
    @inline(never)
    @_optimize(none)
    public static func equal(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        var index = 0
        while index < a.count {
            difference |= a[index] ^ b[index]
            index += 1
        }
        return difference == 0
    }

    /// The same for bytes in ordinary memory, such as a tag off the wire.
    public static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.withUnsafeBytes { left in b.withUnsafeBytes { right in equal(left, right) } }
    }
}
