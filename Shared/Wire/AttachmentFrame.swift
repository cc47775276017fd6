public import Secrets

/// Why a frame is not an attachment.
public enum AttachmentError: Error, Equatable, Sendable {
    /// The length does not fit the frame, or the padding is not zero or not minimal.
    case malformed
    /// The attachment is longer than its reader takes.
    case oversize
}

/// The frame of one attachment: `length (4 bytes, big-endian) | bytes | zero padding`, a multiple
/// of 64 bytes in all.
///
/// Padding hides the length of a passcode on the way, and keeps every attachment out of libzmq's
/// queue cells, which hold small messages and are never wiped.
public enum AttachmentFrame {
    /// What a frame's length is a multiple of, in bytes.
    public static let blockCount = 64

    private static let prefixCount = 4

    /// How long the frame of so many bytes is.
    public static func frameCount(_ count: Int) -> Int {
        (count + prefixCount + blockCount - 1) / blockCount * blockCount
    }

    /// Frames bytes, of which there are fewer than 2^32.
    public static func encode(_ attachment: borrowing SecretBytes) -> SecretBytes {
        let count = attachment.count
        precondition(count <= Int(UInt32.max), "no attachment is that long")
        return SecretBytes(count: frameCount(count)) { frame in
            for position in 0..<prefixCount {
                frame[position] = UInt8(truncatingIfNeeded: count >> (24 - 8 * position))
            }
            attachment.withBytes {
                UnsafeMutableRawBufferPointer(rebasing: frame[prefixCount...]).copyMemory(from: $0)
            }
        }
    }

    /// The bytes of a frame, at most `limit` of them; nothing is allocated before all is checked.
    public static func decode(
        _ frame: UnsafeRawBufferPointer, limit: Int
    ) throws(AttachmentError) -> SharedSecret {
        guard frame.count >= blockCount else { throw .malformed }
        let count = frame[..<prefixCount].reduce(0) { $0 << 8 | Int($1) }
        guard count <= limit else { throw .oversize }
        guard frame.count == frameCount(count) else { throw .malformed }
        let end = prefixCount + count
        guard frame[end...].reduce(0, |) == 0 else { throw .malformed }
        return SharedSecret(
            SecretBytes(copying: UnsafeRawBufferPointer(rebasing: frame[prefixCount..<end])))
    }
}
