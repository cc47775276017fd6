internal import Glibc

/// Bytes that nobody else may read: owned by one holder, and wiped when it lets go.
///
/// They live in the arena: locked into RAM where the kernel allows it, between guard pages, left
/// out of core dumps, zero in a forked child. There is no description, no copy that is not asked
/// for, and no comparison but the constant-time one.
public struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let base: UnsafeMutableRawPointer

    /// How many bytes there are; that much is not secret.
    public let count: Int

    /// Zeros, to be filled in; zero bytes are allowed.
    public init(count: Int) {
        base = Arena.shared.allocate(count)
        self.count = count
    }

    /// A copy of bytes that the caller wipes himself.
    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count)
        if let source = bytes.baseAddress, count > 0 {
            base.copyMemory(from: source, byteCount: count)
        }
    }

    /// A copy of bytes that were never secret, such as a test's.
    public init(copying bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Bytes that the closure writes in place; it is handed zeros.
    ///
    /// When it throws, what it wrote is wiped.
    public init<E: Error>(
        count: Int, filling: (UnsafeMutableRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        self.init(count: count)
        try filling(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    deinit { Arena.shared.release(base, count) }

    /// Lends the bytes for reading; the pointer is never nil and ends with the closure.
    public borrowing func withBytes<R: ~Copyable, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Lends the bytes for writing; the pointer is never nil and ends with the closure.
    public mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try body(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    /// The same bytes a second time.
    public borrowing func copy() -> SecretBytes {
        SecretBytes(copying: UnsafeRawBufferPointer(start: base, count: count))
    }

    /// A copy of a part; the range must lie within the bytes.
    public borrowing func slice(_ range: Range<Int>) -> SecretBytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a slice out of range")
        return SecretBytes(
            copying: UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    /// Whether the bytes are the same, in a time that depends on the counts only.
    public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        ConstantTime.equal(
            UnsafeRawBufferPointer(start: base, count: count),
            UnsafeRawBufferPointer(start: other.base, count: other.count))
    }
}
