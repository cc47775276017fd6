import AuthorityMessages
import Crypto
import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// A credential from elsewhere is opened with what belongs to it and wrapped anew.
@Suite(.timeLimit(.minutes(1)))
struct ImportRules {
    @Test(arguments: [true, false])
    func aRecordIsTakenOverWithItsKeyAndProtection(_ protection: Bool) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let foreign = ForeignInstallation(protection: protection)
            let reply = try await bench.importing(foreign).reply
            #expect(
                reply
                    == .imported(
                        credential: ForeignInstallation.id, revision: 8, kind: .digits4,
                        protection: protection))
            let stored = try #require(try bench.stored())
            #expect(stored.record.protection == protection && stored.record.managedPasscode)
            #expect(stored.record.passcode?.salt != foreign.passcode.salt)
            #expect(stored.enrolment != nil && stored.charge == 0)
            #expect(stored.record.biometricCleanup.isEmpty)
            let token = try await bench.resourceToken()
            let keys = try await bench.answer(bench.derive(token)).attachments
            let expected = try HKDF.sha256(
                key: foreign.accessKey.bytes, salt: Array(Namespace.main.text.utf8),
                info: Array("telegram.wallet.dek.v1".utf8), count: 32)
            #expect(keys.first?.bytes.open == expected.open)
            #expect(try await bench.unlock("9999") == .wrong(failed: 1, remainingMilliseconds: 0))
        }
    }

    /// The foreign secret and the open key leave nothing on the disk.
    @Test func theForeignSecretIsDropped() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let foreign = ForeignInstallation(protection: true)
            _ = try await bench.importing(foreign)
            for secret in [foreign.deviceSecret, foreign.accessKey] {
                #expect(try !bench.diskHolds(secret.bytes.open))
                #expect(try !bench.diskHolds(Base64.standard.encode(secret.bytes.open)))
            }
        }
    }

    @Test func aWrongPasscodeOrSecretChangesNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            var foreign = ForeignInstallation(protection: true)
            #expect(try await bench.importing(foreign, code: "4321").reply == .wrong)
            foreign.deviceSecret = secret([UInt8](repeating: 9, count: 32))
            #expect(try await bench.importing(foreign).reply == .wrong)
            #expect(try bench.stored() == nil)
            #expect(bench.way.asked.isEmpty)
        }
    }

    @Test func whatIsNoRecordWithAPasscodeIsRefused() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let good = ForeignInstallation(protection: true)
            var records: [SharedSecret] = [
                secret(Array("{}".utf8)), secret(Array(#"{"version":2}"#.utf8)), secret([0xFF]),
            ]
            for change: (inout CredentialRecord) -> Void in [
                { $0.passcode?.iterations = 599_999 }, { $0.passcode?.iterations = 3_000_001 },
                { $0.passcode?.salt.removeLast() },
                { $0.id = String(repeating: "i", count: 65) },
                { $0.revision = 1 << 52 + 1 }, { $0.revision = .max },
                {
                    $0.passcode = nil
                    $0.protection = false
                    $0.unprotectedKey = secret([UInt8](repeating: 7, count: 32))
                },
            ] {
                var record = good.record
                change(&record)
                records.append(SharedSecret(record.encode()))
            }
            for record in records {
                var foreign = good
                foreign.document = record
                #expect(
                    try await bench.refusalOfImport(foreign) == "credential.invalid_import")
            }
            var foreign = good
            foreign.deviceSecret = secret([UInt8](repeating: 1, count: 31))
            #expect(try await bench.refusalOfImport(foreign) == "credential.invalid_import")
            foreign = ForeignInstallation(protection: false)
            foreign.document = SharedSecret(foreign.contradicting().encode())
            #expect(try await bench.refusalOfImport(foreign) == "credential.invalid_import")
            #expect(try bench.stored() == nil)
        }
    }

    @Test func anOwnerWithACredentialIsLeftAlone() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let foreign = ForeignInstallation(protection: true)
            try await bench.set("5678")
            #expect(try await bench.refusalOfImport(foreign) == "credential.exists")
            _ = try await bench.ask(Unlock(), owner: .other)
            #expect(
                try await bench.refusalOfImport(foreign, owner: .other) == "credential.exists")
            #expect(try await bench.unlock("5678").isVerified)
        }
    }

    @Test(arguments: [DrawChallenge.method, Enrol.method, Prove.method])
    func anImportThatBrokeOffIsEnteredAgain(_ method: String) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let foreign = ForeignInstallation(protection: true)
            bench.way.mishaps = [(method, .lostReply)]
            #expect(
                try await bench.refusalOfImport(foreign) == "credential.limiter_unreachable")
            try bench.restart()
            _ = try await bench.importing(foreign)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func aLimiterThatKnowsAnotherKeyRefuses() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let database = bench.authority.group.store
            try bench.authority.group.write { _ = try database.run("DELETE FROM credentials") }
            try bench.authority.endTurn()
            let foreign = ForeignInstallation(protection: true)
            #expect(try await bench.refusalOfImport(foreign) == "credential.missing")
            #expect(try bench.stored() == nil)
        }
    }
}

private func secret(_ bytes: [UInt8]) -> SharedSecret { SharedSecret(SecretBytes(copying: bytes)) }

/// What another installation has of a credential, made with the cheap derivation of the tests.
@ServiceLoop
private struct ForeignInstallation {
    nonisolated static let id = "00000000-0000-4000-8000-000000000001"

    let accessKey = secret(Array(0x40...0x5F))
    var deviceSecret = secret(Array(0x00...0x1F))
    let passcode: CredentialRecord.Passcode
    let record: CredentialRecord
    var document: SharedSecret

    init(protection: Bool) {
        let salt = [UInt8](0x10...0x1F)
        let password = HMAC.sha256(
            key: deviceSecret.bytes, message: Array("telegram.passcode.v1\01234".utf8))
        let key = HMAC.sha256(key: password, message: salt + Array("600000".utf8))
        let wrapped =
            (try? PasscodeWrapper.seal(
                accessKey.bytes, under: key, nonce: Array(0xA0...0xAB), credential: Self.id,
                kind: .digits4)) ?? fail()
        passcode = CredentialRecord.Passcode(
            kind: .digits4, salt: salt, iterations: 600_000, wrappedKey: wrapped)
        var record = CredentialRecord(newWith: Self.id, accessKey: accessKey)
        record.revision = 7
        record.passcode = passcode
        record.protection = protection
        record.unprotectedKey = protection ? nil : accessKey
        record.biometricCleanup = ["biometric.X"]
        self.record = record
        document = SharedSecret(record.encode())
    }

    /// A record whose open key is not the one under the passcode.
    func contradicting() -> CredentialRecord {
        var record = record
        record.unprotectedKey = secret([UInt8](repeating: 7, count: 32))
        return record
    }
}

extension Bench {
    fileprivate func importing(
        _ foreign: ForeignInstallation, code: String = "1234", owner: Owner = .local
    ) async throws -> Answer<ImportCredential> {
        let pending = post(
            ImportCredential(), owner: owner,
            attachments: [foreign.document, foreign.deviceSecret, secret(Array(code.utf8))])
        return try await answer(pending)
    }

    fileprivate func refusalOfImport(
        _ foreign: ForeignInstallation, owner: Owner = .local
    ) async throws -> String? {
        do {
            _ = try await importing(foreign, owner: owner)
            return nil
        } catch let refusal as Refusal {
            return refusal.code
        }
    }
}
