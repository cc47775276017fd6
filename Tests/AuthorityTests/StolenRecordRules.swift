import Crypto
import Loop
import Secrets
import Storage
import TestKit
import Testing
import Wire

@testable import AuthorityCore

/// What is stored of a passcode tells a right code from a wrong one to nobody who lacks the
/// limiter's device secret.
struct StolenRecordRules {
    @Test func withoutTheLimiterARecordOpensToNoCode() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set("4821")
            let stored = try #require(try bench.stored())
            let passcode = try #require(stored.record.passcode)
            // Whatever the authority has that could be taken for a device secret.
            var keys = [[UInt8](repeating: 0, count: 32), passcode.salt, passcode.wrappedKey]
            keys += [Array(stored.record.id.utf8), try #require(stored.enrolment).bytes]
            for key in keys { #expect(codes(that: key, opens: stored.record) == []) }
            // The same search with the limiter's database beside it.
            let secret = try #require(try bench.deviceSecret())
            #expect(codes(that: secret, opens: stored.record) == ["4821"])
        }
    }

    /// Tries every code of four digits, by the derivation of the tests.
    private func codes(that deviceSecret: [UInt8], opens record: CredentialRecord) -> [String] {
        guard let passcode = record.passcode else { return [] }
        let label = Array("telegram.passcode.v1\0".utf8)
        let salted = passcode.salt + Array(String(passcode.iterations).utf8)
        return (0..<10_000).map { String(String(10_000 + $0).dropFirst()) }.filter { code in
            let password = HMAC.sha256(
                key: SecretBytes(copying: deviceSecret), message: label + Array(code.utf8))
            let key = HMAC.sha256(key: password, message: salted)
            do {
                _ = try PasscodeWrapper.open(
                    passcode.wrappedKey, under: key, credential: record.id, kind: passcode.kind)
                return true
            } catch {
                return false
            }
        }
    }
}
