public import Secrets
internal import Synchronization

/// A source that hands out bytes that a test gave, in their order, so that what is made of them can
/// be compared with a known answer.
public final class GivenRandom: RandomSource {
    private let rest: Mutex<[UInt8]>

    public init(_ bytes: [UInt8]) { rest = Mutex(bytes) }

    /// The test gave at least as many.
    public func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        rest.withLock { rest in
            precondition(rest.count >= buffer.count, "the test gave too few bytes")
            buffer.copyBytes(from: rest.prefix(buffer.count))
            rest.removeFirst(buffer.count)
        }
    }

    /// Whether all of them were used.
    public var isExhausted: Bool { rest.withLock { $0.isEmpty } }
}
