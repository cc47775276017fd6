public import Secrets

/// A source whose bytes lie in secret memory.
public struct MemorySource: ByteSource {
    private let bytes: SharedSecret

    public init(_ bytes: SharedSecret) { self.bytes = bytes }

    /// A copy of bytes that were never secret, such as a test's.
    public init(copying bytes: [UInt8]) { self.bytes = SharedSecret(SecretBytes(copying: bytes)) }

    public var count: Int { bytes.bytes.count }

    public func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(ByteSourceError) {
        guard offset >= 0, offset <= count, buffer.count <= count - offset else {
            throw .outOfRange
        }
        bytes.bytes.withBytes {
            buffer.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + buffer.count]))
        }
    }
}
