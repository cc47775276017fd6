internal import Secrets

/// Bytes that are no request or answer.
public struct FrameError: Error, Equatable {}

/// The limits of what crosses the pipe.
public enum Frame {
    /// How long one may be, in bytes, without the four that say how long it is.
    public static let byteLimit = 32_768
    /// How many bytes say how long one is, the highest first.
    public static let lengthBytes = 4

    /// The length that a frame's head says; nil beyond the limit.
    public static func length(_ head: [UInt8]) -> Int? {
        guard head.count == lengthBytes else { return nil }
        let length = head.reduce(0) { $0 << 8 | Int($1) }
        return length <= byteLimit ? length : nil
    }
}

/// Puts fields one behind the other, each with its length, in memory for secrets.
struct FrameWriter: ~Copyable {
    private var memory = SecretBytes(count: Frame.lengthBytes + Frame.byteLimit)
    private var count = Frame.lengthBytes
    private var isTooLong = false

    mutating func byte(_ byte: UInt8) { put([byte]) }

    mutating func bytes(_ bytes: [UInt8]) {
        length(bytes.count)
        put(bytes)
    }

    mutating func text(_ text: String) { bytes(Array(text.utf8)) }

    mutating func secret(_ secret: SharedSecret) {
        length(secret.bytes.count)
        secret.bytes.withBytes { put($0) }
    }

    mutating func optional(_ secret: SharedSecret?) {
        byte(secret == nil ? 0 : 1)
        if let secret { self.secret(secret) }
    }

    private mutating func length(_ count: Int) {
        guard let count = UInt16(exactly: count) else { return isTooLong = true }
        put([UInt8(count >> 8), UInt8(truncatingIfNeeded: count)])
    }

    private mutating func put(_ bytes: some Collection<UInt8>) {
        guard count + bytes.count <= memory.count else { return isTooLong = true }
        let start = count
        memory.withMutableBytes { target in
            UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyBytes(from: bytes)
        }
        count += bytes.count
    }

    /// With its length before it; nil where it is too long.
    consuming func finish() -> SharedSecret? {
        guard !isTooLong else { return nil }
        let length = UInt32(count - Frame.lengthBytes)
        memory.withMutableBytes { target in
            for index in 0..<Frame.lengthBytes {
                target[index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(index)))
            }
        }
        return SharedSecret(memory.slice(0..<count))
    }
}

/// Takes the fields out again; any bytes give values or an error.
struct FrameReader {
    private let frame: SharedSecret
    private var next = 0

    init(_ frame: borrowing SecretBytes) { self.frame = SharedSecret(frame.copy()) }

    var isAtEnd: Bool { next == frame.bytes.count }

    mutating func byte() throws(FrameError) -> UInt8 {
        let at = try take(1)
        return frame.bytes.withBytes { $0[at.lowerBound] }
    }

    mutating func bytes() throws(FrameError) -> [UInt8] {
        let range = try field()
        return frame.bytes.withBytes { Array($0[range]) }
    }

    mutating func text() throws(FrameError) -> String {
        guard let text = String(validating: try bytes(), as: UTF8.self) else { throw FrameError() }
        return text
    }

    mutating func secret() throws(FrameError) -> SharedSecret {
        SharedSecret(frame.bytes.slice(try field()))
    }

    mutating func optional() throws(FrameError) -> SharedSecret? {
        switch try byte() {
        case 0: nil
        case 1: try secret()
        default: throw FrameError()
        }
    }

    private mutating func field() throws(FrameError) -> Range<Int> {
        let high = Int(try byte())
        return try take(high << 8 | Int(try byte()))
    }

    private mutating func take(_ count: Int) throws(FrameError) -> Range<Int> {
        guard count <= frame.bytes.count - next else { throw FrameError() }
        defer { next += count }
        return next..<next + count
    }
}
