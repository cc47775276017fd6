import Secrets
import Testing

/// Hands out 0, 1, 2 … without end.
struct CountingRandom: RandomSource {
    func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: index) }
    }
}

@Suite struct RandomRules {
    @Test(arguments: [0, 1, 16, 255, 257, 100_000])
    func theKernelFillsTheWholeBuffer(count: Int) {
        // A byte that stays zero in forty draws was not written: one in 2^320 else.
        var ever = [UInt8](repeating: 0, count: count)
        for _ in 0..<40 {
            for (index, byte) in KernelRandom().bytes(count).enumerated() { ever[index] |= byte }
        }
        #expect(ever.allSatisfy { $0 != 0 })
        #expect(ever.count == count)
    }

    @Test func twoDrawsDiffer() {
        let random = KernelRandom()
        #expect(random.bytes(32) != random.bytes(32))
        #expect(random.secret(32).array != random.secret(32).array)
        #expect(random.uuid() != random.uuid())
    }

    @Test func aSecretHoldsWhatTheSourceGave() {
        #expect(CountingRandom().secret(5).array == [0, 1, 2, 3, 4])
    }

    @Test func anIdentifierIsAVersionFourInUpperCase() {
        #expect(CountingRandom().uuid() == "00010203-0405-4607-8809-0A0B0C0D0E0F")
        for _ in 0..<100 {
            let text = Array(KernelRandom().uuid())
            #expect(text.count == 36)
            #expect(text[14] == "4")
            #expect("89AB".contains(text[19]))
        }
    }
}
