import Secrets
import Testing

@testable import HardwareTokens

/// A sealed copy opens with its secret, its ticket and its binding, and with nothing else.
@Suite struct SealedCopyRules {
    private let key = SharedSecret(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
    private let secret = SharedSecret(SecretBytes(copying: [UInt8](repeating: 9, count: 32)))
    private let ticket = [UInt8](repeating: 4, count: 65)
    private let binding = Array("device.v1:C:biometric.1".utf8)

    private func seal() throws -> [UInt8] {
        try SealedCopy.seal(
            key.bytes, under: secret.bytes, ticket: ticket, binding: binding,
            nonce: [UInt8](repeating: 1, count: 12))
    }

    @Test func itOpens() throws {
        let sealed = try seal()
        #expect(SealedCopy.ticket(of: sealed) == ticket)
        let opened = SharedSecret(
            try SealedCopy.open(sealed, under: secret.bytes, binding: binding))
        let isSame = opened.bytes.isEqual(to: key.bytes)
        #expect(isSame)
    }

    @Test func everyChangedBitIsNoticed() throws {
        let sealed = try seal()
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: HardwareTokenError.mismatch) { try open(changed, binding) }
        }
        #expect(throws: HardwareTokenError.mismatch) { try open(sealed, binding + [0]) }
        for count in 0..<sealed.count {
            #expect(throws: HardwareTokenError.mismatch) {
                try open(Array(sealed.prefix(count)), binding)
            }
        }
    }

    private func open(_ sealed: [UInt8], _ binding: [UInt8]) throws(HardwareTokenError) {
        _ = try SealedCopy.open(sealed, under: secret.bytes, binding: binding)
    }
}
