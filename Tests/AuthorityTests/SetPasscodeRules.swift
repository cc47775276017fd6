import AuthorityMessages
import Glibc
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

/// One write is the whole change, made by who may make it, on the same access key.
@Suite(.timeLimit(.minutes(1)))
struct SetPasscodeRules {
    private static let request = SetPasscode(passcodeKind: .digits4)

    @Test func theFirstPasscodeTurnsProtectionOnAndTakesTheOpenKeyAway() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let reply = try await bench.set()
            #expect(reply.revision == 2)
            #expect(PasscodeWrapper.iterationsAllowed.contains(reply.iterations))
            let stored = try #require(try bench.stored())
            #expect(stored.record.id == reply.credential)
            #expect(stored.record.protection && stored.record.managedPasscode)
            #expect(stored.record.unprotectedKey == nil)
            #expect(stored.record.biometricAccount == nil)
            #expect(stored.record.pendingBiometricAccount == nil)
            #expect(stored.record.passcode?.iterations == reply.iterations)
            #expect(stored.charge == 0)
            #expect(stored.enrolment == (try bench.limiter.service.standing(of: .local)).enrolment)
            #expect(!bench.authority.group.store.erasureOwed)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test(arguments: [
        (PasscodeKind.digits4, "12345"), (.digits6, "1234"), (.alphanumeric, ""),
        (.digits4, "abcd"),
    ])
    func aPasscodeOfAnotherFormIsRefused(_ kind: PasscodeKind, _ code: String) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let refused = try await bench.refusal(
                SetPasscode(passcodeKind: kind), secret: code)
            #expect(refused == "credential.invalid_code")
            #expect(try bench.stored() == nil)
            #expect(bench.way.asked.isEmpty)
        }
    }

    @Test func aChangeKeepsTheAccessKeyAndEndsEverySession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let resource = try await bench.resourceToken()
            let before = try await bench.answer(bench.derive(resource)).attachments
            for scope in [Scope.settings, .managePasscode] {
                let token = try await bench.token(scope, audience: [])
                let old = try #require(try bench.stored())
                let reply = try await bench.ask(Self.request, token: token, secret: "1234").reply
                let new = try #require(try bench.stored())
                #expect(reply.revision == old.record.revision + 1)
                #expect(new.record.id == old.record.id && new.enrolment == old.enrolment)
                #expect(new.record.passcode?.salt != old.record.passcode?.salt)
                #expect(bench.service.registry.count == 0)
                #expect(
                    try await bench.refusal(Self.request, token: token, secret: "1234")
                        == "session.ended")
            }
            let again = try await bench.resourceToken()
            let after = try await bench.answer(bench.derive(again)).attachments
            #expect(before[0].bytes.open == after[0].bytes.open)
        }
    }

    /// The same passcode set again and again leaves nothing in common.
    @Test func everyWrapperHasASaltAndANonceOfItsOwn() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            var salts: Set<[UInt8]> = []
            var nonces: Set<[UInt8]> = []
            for _ in 1...4 {
                let passcode = try #require(try bench.stored()?.record.passcode)
                #expect(passcode.salt.count == 16 && passcode.wrappedKey.count == 60)
                salts.insert(passcode.salt)
                nonces.insert(Array(passcode.wrappedKey.prefix(12)))
                let token = try await bench.settingsToken()
                _ = try await bench.ask(Self.request, token: token, secret: "1234")
            }
            #expect(salts.count == 4 && nonces.count == 4)
        }
    }

    /// A record from elsewhere may say that an older layout outranks it.
    @Test func aChangeMakesTheRecordTheOneThatCounts() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            for isRemoved in [false, true] {
                try bench.store { $0.record.managedPasscode = false }
                let token = try await bench.settingsToken()
                if isRemoved {
                    _ = try await bench.ask(DisablePasscode(), token: token)
                } else {
                    _ = try await bench.ask(Self.request, token: token, secret: "1234")
                }
                #expect(try #require(try bench.stored()).record.managedPasscode)
            }
        }
    }

    @Test func theEarlierPasscodeIsWrongAfterAChange() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            _ = try await bench.ask(
                SetPasscode(passcodeKind: .alphanumeric), token: token, secret: "pass wörd")
            #expect(try await bench.unlock("1234") == .wrong(failed: 1, remainingMilliseconds: 0))
            #expect(try await bench.unlock("pass wo\u{308}rd").isVerified)
        }
    }

    @Test func aChangeKeepsProtectionAsItIs() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            let key = try #require(bench.service.registry.onlySession?.accessKey)
            try bench.store {
                $0.record.protection = false
                $0.record.unprotectedKey = key
            }
            _ = try await bench.ask(Self.request, token: token, secret: "5678")
            let record = try #require(try bench.stored()).record
            #expect(!record.protection && record.unprotectedKey != nil && record.passcode != nil)
        }
    }

    @Test func whoMayNotChangesNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let before = try #require(try bench.stored()).record.passcode
            func refused(_ token: [UInt8], as peer: Peer = .app) async throws -> String? {
                try await bench.refusal(Self.request, as: peer, token: token, secret: "5678")
            }
            #expect(try await refused([]) == "credential.not_authorised")
            let settings = try await bench.settingsToken()
            #expect(try await refused(settings, as: .otherApp) == "session.invalid")
            #expect(try await refused(settings, as: .extension) == "bus.forbidden")
            for scope in [Scope.resource(.main), .sign(.main, .first), .reveal(.main, .first)] {
                let token = try await bench.token(scope, audience: [.walletVault])
                #expect(try await refused(token) == "credential.not_authorised")
            }
            let lock = try await bench.token(.appUnlock, audience: [])
            #expect(try await refused(lock) == "credential.not_authorised")
            #expect(
                try await bench.refusal(Self.request, owner: .other, token: settings, secret: "1")
                    == "session.invalid")
            #expect(try #require(try bench.stored()).record.passcode == before)
        }
    }

    @Test func aLockDuringTheDerivationStopsAChange() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            bench.kdf.isHeld = true
            let pending = bench.post(Self.request, token: token, secret: "5678")
            try await bench.settle()
            _ = try await bench.ask(Lock())
            bench.kdf.letGo()
            #expect(try await bench.refusal(of: pending) == "session.ended")
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func nothingOfTheOpenKeyIsLeftOnTheDisk() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.kdf.isHeld = true
            let pending = bench.post(Self.request, secret: "1234")
            try await bench.settle()
            let key = try #require(try bench.stored()?.record.unprotectedKey).bytes.open
            let encoded = Base64.standard.encode(key)
            #expect(try bench.diskHolds(encoded))
            bench.kdf.letGo()
            _ = try await bench.answer(pending)
            #expect(try !bench.diskHolds(encoded))
        }
    }

    @Test func aChangeIsSaidWhenTheLastLeaseIsOver() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            let resource = try await bench.resourceToken()
            bench.timePasses = false
            _ = try await bench.answer(bench.derive(resource))
            let change = bench.post(Self.request, token: token, secret: "5678")
            try await bench.advance(milliseconds: 249)
            #expect(!bench.isAnswered(change))
            #expect(try await bench.refusal(of: bench.derive(resource)) == "session.ended")
            try await bench.advance(milliseconds: 1)
            #expect(bench.isAnswered(change))
        }
    }

    @Test func onlyOneChangeOfAnOwnerRunsAtATime() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.kdf.isHeld = true
            let first = bench.post(Self.request, secret: "1234")
            try await bench.settle()
            #expect(
                try await bench.refusal(Self.request, secret: "5678")
                    == "credential.busy_changing")
            let other = bench.post(Self.request, owner: .other, secret: "1234")
            bench.kdf.letGo()
            _ = try await bench.answer(first)
            _ = try await bench.answer(other)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func anOwnerWhomOnlyTheLimiterKnowsIsNoFirstSet() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try bench.forgetRecord()
            #expect(try await bench.refusal(Self.request, secret: "5678") == "credential.missing")
            #expect(
                try await bench.refusal(
                    Verify(scope: .appUnlock, audience: []), secret: "1234")
                    == "credential.missing")
            #expect(try await bench.refusal(AskStatus()) == "credential.missing")
            #expect(try bench.stored() == nil)
        }
    }

    @Test func anEnrolmentThatWasForgottenIsForgottenAgain() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let old = try #require(try bench.stored()?.enrolment)
            try bench.authority.group.write {
                try bench.service.store.markForgotten(old, of: .local)
            }
            try bench.forgetRecord()
            let status = try await bench.ask(AskStatus()).reply
            #expect(status.credential == nil)
            try await bench.set("5678")
            let new = try #require(try bench.stored()?.enrolment)
            #expect(new != old)
            #expect(try await bench.unlock("5678").isVerified)
        }
    }

    @Test func aRecordWithoutAPasscodeMeetsAnotherKeyAtTheLimiter() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try bench.store {
                $0.record = CredentialRecord(
                    newWith: $0.record.id, accessKey: SharedSecret(SecretBytes(count: 32)))
                $0.enrolment = nil
            }
            #expect(
                try await bench.refusal(Self.request, secret: "5678")
                    == "credential.secret_missing")
        }
    }

    /// Somebody who has the access key still in a session gets no other secret under it.
    @Test func aDeviceSecretThatIsGoneIsNotDrawnAnew() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            let enrolment = try #require(try bench.stored()?.enrolment)
            _ = try bench.limiter.service.forget(Forget(enrolment: enrolment), of: .local)
            #expect(
                try await bench.refusal(Self.request, token: token, secret: "5678")
                    == "credential.secret_missing")
            #expect(try bench.limiter.service.owners().isEmpty)
            #expect(try #require(try bench.stored()).enrolment == enrolment)
        }
    }

    @Test func aNewEnrolmentCountsItsChargesAnew() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999")
            _ = try await bench.settingsToken()
            let key = try #require(bench.service.registry.onlySession?.accessKey)
            let old = try #require(try bench.stored()?.enrolment)
            _ = try bench.limiter.service.forget(Forget(enrolment: old), of: .local)
            try bench.store {
                $0.record.passcode = nil
                $0.record.protection = false
                $0.record.unprotectedKey = key
            }
            #expect(try #require(try bench.stored()).charge == 2)
            try await bench.set("5678")
            let stored = try #require(try bench.stored())
            #expect(stored.enrolment != old && stored.charge == 0)
            #expect(try await bench.unlock("5678").isVerified)
        }
    }

    @Test func aChangeDropsTheCharges() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            for _ in 1...6 { _ = try await bench.unlock("9999") }
            #expect(try bench.failed() == 6)
            _ = try await bench.ask(Self.request, token: token, secret: "5678")
            #expect(try bench.failed() == 0)
            #expect(try await bench.unlock("5678").isVerified)
        }
    }

    @Test func aLimiterStartedAnewIsAskedForAnotherChallenge() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.settingsToken()
            bench.way.heldMethod = DrawChallenge.method
            let pending = bench.post(Self.request, token: token, secret: "5678")
            try await bench.settle()
            #expect(bench.way.heldCount == 1)
            try bench.restartLimiter()
            bench.way.letGo()
            _ = try await bench.answer(pending)
            #expect(try await bench.unlock("5678").isVerified)
        }
    }

    @Test func theOutcomeIsKnownAndARepeatIsDoneOnce() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let key = IdempotencyKey.numbered(77)
            let first = try await bench.ask(Self.request, secret: "1234", key: key).reply
            let again = try await bench.ask(Self.request, secret: "1234", key: key).reply
            #expect(again == first)
            #expect(try #require(try bench.stored()).record.revision == 2)
            let told = try await bench.ask(AskOutcome<Authority>(key: key)).reply
            #expect(told.status == .done)
            try bench.restart()
            #expect(try await bench.ask(AskOutcome<Authority>(key: key)).reply.status == .done)
        }
    }
}

extension Bench {
    /// Whether these bytes are in the authority's store or in its log.
    func diskHolds(_ wanted: [UInt8]) throws -> Bool {
        let pieces = ["authority.sqlite", "authority.sqlite-wal"].map { bytes(of: $0) }
        #expect(pieces.contains { !$0.isEmpty })
        return pieces.contains { piece in
            piece.indices.contains { start in piece[start...].starts(with: wanted) }
        }
    }

    private func bytes(of name: String) -> [UInt8] {
        guard let file = fopen(folder.path(of: name), "rb") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 {
            bytes += piece[..<count]
        }
        return bytes
    }

    /// Takes the owner's record out of the authority's store.
    func forgetRecord() throws {
        let database = authority.group.store
        try authority.group.write {
            _ = try database.run("DELETE FROM credentials WHERE owner = 'local'")
        }
        try authority.endTurn()
    }
}
