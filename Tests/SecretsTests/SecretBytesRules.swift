import Secrets
import Testing

@Suite struct SecretBytesRules {
    @Test(arguments: [0, 1, 63, 64, 65, 128, 129, 1024, 4095, 4096, 4097, 70_000])
    func newBytesAreZeroAlignedAndWritable(count: Int) {
        var secret = SecretBytes(count: count)
        #expect(secret.count == count)
        secret.withBytes { bytes in
            #expect(bytes.count == count)
            #expect(bytes.allSatisfy { $0 == 0 })
            #expect(UInt(bitPattern: bytes.baseAddress) % 16 == 0)
            #expect(bytes.baseAddress != nil)
        }
        secret.withMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index + 1) }
        }
        secret.withBytes { bytes in
            #expect(bytes.indices.allSatisfy { bytes[$0] == UInt8(truncatingIfNeeded: $0 + 1) })
        }
    }

    @Test func aCopyStandsByItself() {
        var first = SecretBytes(copying: [1, 2, 3])
        let second = first.copy()
        first.withMutableBytes { $0[0] = 9 }
        #expect(second.array == [1, 2, 3])
        #expect(first.array == [9, 2, 3])
    }

    @Test(arguments: [0..<0, 0..<5, 1..<4, 5..<5])
    func aSliceIsThePartNamed(range: Range<Int>) {
        let bytes: [UInt8] = [10, 11, 12, 13, 14]
        #expect(SecretBytes(copying: bytes).slice(range).array == Array(bytes[range]))
    }

    @Test func aSliceOutOfRangeEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            _ = SecretBytes(count: 4).slice(2..<5)
        }
    }

    @Test func fillingWritesInPlace() {
        let secret = SecretBytes(count: 3) { $0.copyBytes(from: [7, 8, 9]) }
        #expect(secret.array == [7, 8, 9])
    }

    @Test func aBodyMayReturnASecret() {
        let secret = SecretBytes(copying: [1, 2, 3, 4])
        let part = secret.withBytes {
            SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[2...]))
        }
        #expect(part.array == [3, 4])
    }

    @Test func equalityLooksAtEveryByteAndAtTheCount() {
        let bytes = [UInt8](0..<100)
        #expect(equal(bytes, bytes))
        #expect(!equal(bytes, bytes + [0]))
        for index in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[index] ^= 1 << bit
                #expect(!equal(bytes, other))
                #expect(!ConstantTime.equal(bytes, other))
            }
        }
        #expect(equal([], []))
        #expect(ConstantTime.equal([], []))
        #expect(!ConstantTime.equal([], [0]))
    }

    @Test func printingASharedSecretShowsNothing() {
        let shared = SharedSecret(SecretBytes(copying: Array("wallet".utf8)))
        var dumped = ""
        dump(shared, to: &dumped)
        for text in ["\(shared)", String(reflecting: shared), dumped] {
            #expect(text.contains("redacted"))
            #expect(!text.contains("119"))
            #expect(!text.contains("bytes"))
        }
        #expect(shared.bytes.array == Array("wallet".utf8))
    }
}

private func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    SecretBytes(copying: a).isEqual(to: SecretBytes(copying: b))
}

extension SecretBytes {
    var array: [UInt8] { withBytes { Array($0) } }
}
