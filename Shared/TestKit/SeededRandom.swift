public import Secrets
internal import Synchronization

/// A generator whose seed is the whole run: SplitMix64 (Steele, Lea and Flood, 2014).
///
/// It gives a service its keys and a test its choices; two tests that must not disturb each other's
/// sequence take one each.
public final class SeededRandom: RandomSource, RandomNumberGenerator {
    private let state: Mutex<UInt64>

    public init(seed: UInt64) { state = Mutex(seed) }

    public func next() -> UInt64 {
        let sum = state.withLock { state -> UInt64 in
            state &+= 0x9E37_79B9_7F4A_7C15
            return state
        }
        var mixed = sum
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    public func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        var start = 0
        while start < buffer.count {
            withUnsafeBytes(of: next()) { word in
                let count = min(word.count, buffer.count - start)
                UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: word[..<count]))
            }
            start += 8
        }
    }

    /// A number from a range.
    public func number(in range: ClosedRange<Int>) -> Int {
        var generator = self
        return Int.random(in: range, using: &generator)
    }

    /// True so many times in a hundred.
    public func chance(percent: Int) -> Bool { number(in: 1...100) <= percent }

    /// One element; nil where there is none.
    public func pick<C: Collection>(_ elements: C) -> C.Element? {
        var generator = self
        return elements.randomElement(using: &generator)
    }
}
