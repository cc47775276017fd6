public import Secrets

/// Bytes that are read where they are wanted, and not all at once.
public protocol ByteSource: Sendable {
    /// How many bytes there are; the same for the life of the source.
    var count: Int { get }

    /// Fills the whole buffer with the bytes from an offset on.
    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(ByteSourceError)
}

/// Why bytes cannot be read.
public enum ByteSourceError: Error, Equatable, Sendable {
    /// The source has no such bytes.
    case outOfRange
    /// The file has fewer bytes than when it was opened.
    case shortened
    /// A folder, a link, a device or the like.
    case notAFile
    /// The kernel's answer.
    case failed(errno: Int32)
    /// Nobody wants the bytes any longer.
    case abandoned
}

extension ByteSource {
    /// A part of the source in secret memory of its own.
    public func secret(_ range: Range<Int>) throws(ByteSourceError) -> SecretBytes {
        guard range.lowerBound >= 0, range.upperBound <= count else { throw .outOfRange }
        return try SecretBytes(count: range.count) { target throws(ByteSourceError) in
            try read(at: range.lowerBound, into: target)
        }
    }
}
