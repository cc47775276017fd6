import AuthorityMessages
import LimiterCore
import LimiterMessages
import Loop
import Serving
import Storage
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// Without a passcode an owner is reset where authority, limiter and vault each say that they know
/// nothing of him, and nowhere else.
@Suite(.timeLimit(.minutes(1)))
struct FreshResetRules {
    @Test func aStrangerIsResetWithoutAPasscode() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let removal = try await bench.beginFresh()
            #expect(try await bench.ask(AskStatus()).reply.removal == .reset)
            #expect(
                try await bench.refusal(SetPasscode(passcodeKind: .digits4), secret: "1234")
                    == "credential.removing")
            #expect(
                try await bench.refusal(FinishRemoval(removal: removal))
                    == "credential.wipe_outstanding")
            // It said that it is empty, and is not told to wipe what may have come back.
            #expect(
                try await bench.refusal(CheckRemoval(removal: removal), as: .vault)
                    == "credential.no_removal")
            try await bench.wipe(removal, by: [.migration])
            _ = try await bench.ask(FinishRemoval(removal: removal))
            let new = try #require(try bench.stored())
            #expect(new.record.passcode == nil && new.record.unprotectedKey != nil)
            #expect(new.record.managedPasscode && new.enrolment == nil)
            #expect(try await bench.ask(AskStatus()).reply.removal == nil)
            try await bench.set()
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func whatTheAuthorityKnowsIsInTheWay() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try await bench.expectKnown(to: [.credentialAuthority])
            try bench.edit("UPDATE credentials SET record = x'7B7D'")
            try await bench.expectKnown(to: [.credentialAuthority])
            _ = try await bench.ask(Unlock(), owner: .other)
            try await bench.expectKnown(to: [.credentialAuthority], owner: .other)
            #expect(bench.vault.askedCount == 0)
        }
    }

    /// A row of each table that has owners; those that are of nobody who is still there apart.
    private static let rows: [String: StaticString] = [
        "credentials": "INSERT INTO credentials VALUES ('local', x'00', NULL, 0)",
        "policies": "INSERT INTO policies VALUES ('local', 'session')",
        "tries": "INSERT INTO tries VALUES ('local', 1, 1, 'app')",
        "removals": "INSERT INTO removals VALUES ('local', randomblob(16), 'remove', '')",
        "device_copies": "INSERT INTO device_copies VALUES ('local', 'a', 't', '', x'', x'')",
    ]
    private static let rowsOfNobody: [String: StaticString] = [
        "forgotten": "INSERT INTO forgotten VALUES ('local', randomblob(16))"
    ]

    /// What belongs to no record counts too, in whichever table it is.
    @Test func aRowOfAnyTableIsInTheWay() async throws {
        try await LoopHarness.run {
            let all = Self.rows.merging(Self.rowsOfNobody) { first, _ in first }
            let tables = try tablesLeft(by: [], in: try Bench().authority.group.store)
            #expect(tables == all.keys.sorted())
            for (table, row) in all {
                let bench = try Bench()
                try bench.edit(row)
                let isKnown = try bench.service.store.knows(.local)
                #expect(isKnown == (Self.rows[table] != nil), "\(table)")
                #expect(try !bench.service.store.knows(.other))
                guard isKnown, table != "removals" else { continue }
                try await bench.expectKnown(to: [.credentialAuthority])
            }
        }
    }

    @Test func whatLimiterAndVaultKnowIsInTheWay() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.vault.answer = .holds
            try await bench.expectKnown(to: [.walletVault])
            try await bench.set()
            try bench.edit("DELETE FROM credentials")
            try await bench.expectKnown(to: [.attemptLimiter, .walletVault])
            bench.vault.answer = .empty
            let secret = try bench.deviceSecret()
            try await bench.expectKnown(to: [.attemptLimiter])
            #expect(try secret != nil && bench.deviceSecret() == secret)
        }
    }

    /// An answer that did not come is never taken for one.
    @Test(arguments: [
        VaultDouble.Answer.unreachable, .silent, .failing, .babbling,
    ])
    func aVaultThatDoesNotAnswerIsNoSign(_ answer: VaultDouble.Answer) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.vault.answer = answer
            await bench.expectUnchanged("credential.vault_unreachable")
            #expect(bench.vault.askedCount == 1)
            bench.vault.answer = .empty
            _ = try await bench.beginFresh()
        }
    }

    @Test(arguments: LimiterWay.Mishap.allCases)
    func aLimiterThatDoesNotAnswerIsNoSign(_ mishap: LimiterWay.Mishap) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.way.mishaps = [(AskStanding.method, mishap)]
            await bench.expectUnchanged("credential.limiter_unreachable")
            _ = try await bench.beginFresh()
        }
    }

    @Test func aLimiterWhoseCountIsDamagedIsNoSign() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try bench.edit("DELETE FROM credentials")
            try bench.editLimiter("UPDATE ledgers SET record = x'00'")
            await bench.expectUnchanged("credential.attempts_damaged")
        }
    }

    /// The owner's turn is held from the first look to the journal's entry.
    @Test func nothingOfTheOwnerComesInBetween() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            bench.vault.isHeld = true
            let first = bench.post(BeginFreshReset())
            try await bench.settle()
            let second = bench.post(BeginFreshReset())
            let set = SetPasscode(passcodeKind: .digits4)
            let open = OpenSession(scope: .resource(.main), audience: [.walletVault])
            bench.timePasses = false
            for refused in [
                try await bench.refusal(set, secret: "1234"), try await bench.refusal(open),
                try await bench.refusal(Unlock()),
            ] { #expect(refused == "credential.busy_changing") }
            bench.timePasses = true
            #expect(try bench.stored() == nil)
            bench.vault.letGo()
            let begun = try await bench.answer(first).reply
            #expect(try await bench.answer(second).reply == begun)
            #expect(bench.vault.askedCount == 1)
        }
    }

    /// More steps than either end of a reset has.
    private static let steps = 0..<16

    @Test(arguments: steps)
    func oneThatBreaksOffIsBegunAgain(_ step: Int) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            _ = bench.post(BeginFreshReset())
            for _ in 0..<step { try await bench.step() }
            try bench.restart()
            let removal = try await bench.beginFresh()
            try bench.restart()
            #expect(try await bench.beginFresh() == removal)
            try await bench.wipe(removal, by: [.migration])
            _ = bench.post(FinishRemoval(removal: removal))
            for _ in 0..<step { try await bench.step() }
            try bench.restart()
            _ = try await bench.ask(FinishRemoval(removal: removal))
            #expect(try #require(try bench.stored()).record.passcode == nil)
            try await bench.set()
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func theStartFinishesOneAsWell() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.wipe(try await bench.beginFresh(), by: [.migration])
            bench.vault.answer = .unreachable
            try bench.restart()
            await bench.finishing()
            #expect(try #require(try bench.stored()).record.passcode == nil)
        }
    }

    /// A store of the limiter that was put back in between keeps its device secret.
    @Test(arguments: [true, false])
    func whatCameBackSinceIsNotDestroyed(_ byTheStart: Bool) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set(owner: .other)
            let removal = try await bench.beginFresh()
            try await bench.wipe(removal, by: [.migration])
            try bench.editLimiter(
                """
                INSERT INTO owners
                SELECT 'local', randomblob(16), confirm_key, device_secret FROM owners
                """)
            try bench.editLimiter(
                "INSERT INTO ledgers SELECT 'local', record, last_charge FROM ledgers")
            if byTheStart {
                try bench.restart()
                await bench.finishing()
            } else {
                #expect(
                    try await bench.refusal(FinishRemoval(removal: removal))
                        == "credential.missing")
            }
            #expect(try bench.limiter.service.standing(of: .local).enrolment != nil)
            #expect(try bench.stored() == nil)
            #expect(try bench.service.store.removal(of: .local) == nil)
            try await bench.expectKnown(to: [.attemptLimiter])
        }
    }

    /// A reset that somebody showed a passcode for is not taken for one that nobody did, but either
    /// is finished by a plain one.
    @Test func whatIsUnderWayKeepsItsBeginning() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            let fresh = try await bench.beginFresh(.other)
            let plain = BeginRemoval(removalKind: .reset)
            #expect(try await bench.ask(plain, owner: .other).reply.removal == fresh)
            #expect(
                try await bench.refusal(BeginRemoval(removalKind: .remove), owner: .other)
                    == "credential.removing")
            try await bench.set()
            _ = try await bench.ask(plain, token: try await bench.settingsToken())
            #expect(try await bench.refusal(BeginFreshReset()) == "credential.removing")
        }
    }

    /// What is kept for ever of an owner who was removed is of nobody.
    @Test func whoWasRemovedIsAStranger() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let begun = try await bench.ask(
                BeginRemoval(removalKind: .remove), token: try await bench.settingsToken()
            ).reply
            try await bench.wipe(begun.removal, by: [.vault, .shares, .migration])
            _ = try await bench.ask(FinishRemoval(removal: begun.removal))
            _ = try await bench.beginFresh()
        }
    }

    @Test func whoMayNotBeginsNone() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            #expect(
                try await bench.refusal(BeginFreshReset(), as: .extension) == "bus.forbidden")
            bench.peers.mayDestroy = false
            #expect(try await bench.refusal(BeginFreshReset()) == "bus.forbidden")
            #expect(bench.vault.askedCount == 0)
            #expect(try await bench.ask(AskStatus()).reply.removal == nil)
        }
    }
}

extension Bench {
    fileprivate func beginFresh(_ owner: Owner = .local) async throws -> RemovalID {
        let reply = try await ask(BeginFreshReset(), owner: owner).reply
        guard case .begun(let removal, let outstanding) = reply else { throw NoAnswer() }
        #expect(outstanding == [.migration])
        return removal
    }

    fileprivate func expectKnown(
        to services: [ServiceName], owner: Owner = .local
    ) async throws {
        #expect(try await ask(BeginFreshReset(), owner: owner).reply == .known(to: services))
        #expect(try service.store.removal(of: owner) == nil)
    }

    /// A fresh reset is refused for certain, with nothing changed.
    fileprivate func expectUnchanged(_ code: String) async {
        await #expect {
            _ = try await self.ask(BeginFreshReset())
        } throws: {
            guard let refusal = $0 as? Refusal else { return false }
            return refusal.code == code && refusal.outcome == .rejected
        }
        #expect(throws: Never.self) {
            let removal = try self.service.store.removal(of: .local)
            let stored = try self.stored()
            #expect(removal == nil && stored == nil)
        }
    }

    fileprivate func edit(_ statement: StaticString) throws {
        try authority.group.write { _ = try authority.group.store.run(statement) }
        try authority.endTurn()
    }

    fileprivate func editLimiter(_ statement: StaticString) throws {
        try limiter.group.write { _ = try limiter.group.store.run(statement) }
        try limiter.endTurn()
    }
}
