import AuthorityMessages
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

/// A reset goes through its steps in their order, whatever breaks off, and by who may.
@Suite(.timeLimit(.minutes(1)))
struct RemovalRules {
    private static let begin = BeginRemoval(removalKind: .reset)

    @Test func aResetLeavesANewCredentialWithoutAPasscode() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.unlock("9999")
            let resource = try await bench.resourceToken()
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(SetSignPolicy(policy: .session), token: settings)
            let old = try #require(try bench.stored())
            let begun = try await bench.ask(Self.begin, token: settings).reply
            #expect(begun.outstanding == [.walletVault, .migration])
            #expect(bench.service.registry.count == 0)
            #expect(!bench.service.registry.isGateOpen(of: .local))
            #expect(try await bench.refusal(of: bench.derive(resource)) == "session.ended")
            try await bench.wipe(begun.removal)
            #expect(
                try await bench.refusal(FinishRemoval(removal: begun.removal)) == nil)
            let new = try #require(try bench.stored())
            #expect(new.record.id != old.record.id && new.record.revision == 1)
            #expect(new.record.passcode == nil && !new.record.protection)
            #expect(new.record.managedPasscode && new.enrolment == nil && new.charge == 0)
            #expect(try bench.limiter.service.standing(of: .local).enrolment == nil)
            let forgotten = try #require(old.enrolment)
            #expect(try bench.service.store.isForgotten(forgotten, of: .local))
            #expect(try await bench.ask(AskSignPolicy()).reply.policy == .proof)
            #expect(try await bench.ask(AskStatus()).reply.removal == nil)
            try await bench.set("5678")
            #expect(try await bench.unlock("5678").isVerified)
            #expect(
                try await bench.refusal(FinishRemoval(removal: begun.removal)) == nil)
            #expect(try await bench.unlock("5678").isVerified)
        }
    }

    @Test func everyTableWithAnOwnerIsWiped() async throws {
        try await LoopHarness.run {
            let database = try Bench().authority.group.store
            #expect(try tablesLeft(by: AuthorityService.ownerTables, in: database) == [])
            let all = [
                "credentials", "device_copies", "forgotten", "policies", "removals", "tries",
            ]
            #expect(try tablesLeft(by: [], in: database) == all)
        }
    }

    @Test func aRemovalLeavesNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            let begun = try await bench.ask(
                BeginRemoval(removalKind: .remove), token: settings
            ).reply
            #expect(begun.outstanding == [.walletVault, .backupShares, .migration])
            for peer in [Peer.vault, .shares, .migration] {
                #expect(
                    try await bench.refusal(FinishRemoval(removal: begun.removal))
                        == "credential.wipe_outstanding")
                try await bench.wipe(begun.removal, by: [peer])
            }
            _ = try await bench.ask(FinishRemoval(removal: begun.removal))
            #expect(try bench.stored() == nil)
            #expect(try bench.service.owners().isEmpty)
            #expect(try bench.limiter.service.owners().isEmpty)
        }
    }

    @Test func nothingElseOfTheOwnerRunsMeanwhile() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            let begun = try await bench.ask(Self.begin, token: settings).reply
            let lock = Verify(scope: .appUnlock, audience: [])
            let set = SetPasscode(passcodeKind: .digits4)
            let open = OpenSession(scope: .resource(.main), audience: [.walletVault])
            for refused in [
                try await bench.refusal(lock, secret: "1234"),
                try await bench.refusal(set, secret: "1234"),
                try await bench.refusal(open), try await bench.refusal(Unlock()),
                try await bench.refusal(BeginRemoval(removalKind: .remove)),
            ] { #expect(refused == "credential.removing") }
            #expect(try await bench.ask(AskStatus()).reply.removal == .reset)
            #expect(
                try await bench.refusal(FinishRemoval(removal: begun.removal))
                    == "credential.wipe_outstanding")
            try await bench.set(owner: .other)
            #expect(try await bench.unlock("1234", owner: .other).isVerified)
        }
    }

    /// It is retried as a whole, by whoever may destroy, without a session.
    @Test func aResetThatBrokeOffIsGoneOnWith() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            let begun = try await bench.ask(Self.begin, token: settings).reply
            try bench.restart()
            #expect(try await bench.ask(Self.begin).reply == begun)
            try await bench.wipe(begun.removal)
            try bench.restart()
            #expect(try await bench.ask(Self.begin).reply.outstanding.isEmpty)
            bench.way.mishaps = (1...4).map { _ in (Forget.method, .lostReply) }
            #expect(
                try await bench.refusal(FinishRemoval(removal: begun.removal))
                    == "credential.limiter_unreachable")
            #expect(try await bench.ask(AskStatus()).reply.removal == .reset)
            _ = try await bench.ask(FinishRemoval(removal: begun.removal))
            #expect(try #require(try bench.stored()).record.passcode == nil)
        }
    }

    /// An earlier run may have given a lease just before: whoever begins to wipe must not be
    /// overtaken by work under it.
    @Test func aResetIsGoneOnWithWhenEarlierLeasesAreOver() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(Self.begin, token: settings)
            bench.timePasses = false
            try bench.restart()
            let pending = bench.post(Self.begin)
            try await bench.advance(milliseconds: 249)
            #expect(!bench.isAnswered(pending))
            try await bench.advance(milliseconds: 1)
            #expect(bench.isAnswered(pending))
        }
    }

    /// Once the wallets are wiped the start finishes what is left.
    @Test func theStartFinishesWhatNeedsNobodyElse() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            let begun = try await bench.ask(Self.begin, token: settings).reply
            try bench.restart()
            await bench.finishing()
            #expect(try await bench.ask(AskStatus()).reply.removal == .reset)
            try await bench.wipe(begun.removal)
            try bench.restart()
            await bench.finishing()
            #expect(try await bench.ask(AskStatus()).reply.removal == nil)
            #expect(try #require(try bench.stored()).record.passcode == nil)
        }
    }

    /// A kill on either side of the last write leaves a reset that is finished by another try.
    @Test func aKillBeforeTheLastWriteIsNoEnd() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let old = try #require(try bench.stored()?.enrolment)
            let settings = try await bench.settingsToken()
            let begun = try await bench.ask(Self.begin, token: settings).reply
            try await bench.wipe(begun.removal)
            _ = bench.post(FinishRemoval(removal: begun.removal))
            try await bench.runUntilWritten()
            try bench.restart()
            #expect(try bench.limiter.service.standing(of: .local).enrolment == nil)
            #expect(try await bench.ask(AskStatus()).reply.removal == .reset)
            _ = try await bench.ask(FinishRemoval(removal: begun.removal))
            #expect(try bench.service.store.isForgotten(old, of: .local))
            try await bench.set("5678")
        }
    }

    @Test func aResetDrawsAnotherAccessKeyAndDeviceSecret() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            var keys: Set<[UInt8]> = []
            var secrets: Set<[UInt8]> = []
            for _ in 1...2 {
                try await bench.set()
                let resource = try await bench.resourceToken()
                let key = try await bench.answer(bench.derive(resource)).attachments[0]
                keys.insert(key.bytes.open)
                secrets.insert(try #require(try bench.deviceSecret()))
                let settings = try await bench.settingsToken()
                let begun = try await bench.ask(Self.begin, token: settings).reply
                try await bench.wipe(begun.removal)
                _ = try await bench.ask(FinishRemoval(removal: begun.removal))
                #expect(try bench.deviceSecret() == nil)
            }
            #expect(keys.count == 2 && secrets.count == 2)
        }
    }

    /// What stood there before is not even looked at.
    @Test func aResetThatIsBegunNeedsNoRecordThatCanBeRead() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            let begun = try await bench.ask(Self.begin, token: settings).reply
            try bench.overwriteRecord(with: "{}")
            try bench.restart()
            #expect(try await bench.ask(Self.begin).reply == begun)
            try await bench.wipe(begun.removal)
            #expect(try await bench.refusal(FinishRemoval(removal: begun.removal)) == nil)
            #expect(try #require(try bench.stored()).record.passcode == nil)
            #expect(try bench.deviceSecret() == nil)
            try await bench.set("5678")
            #expect(try await bench.unlock("5678").isVerified)
        }
    }

    /// Sessions are gone, and of keys and counts nothing is, for as long as one wipe is missing.
    @Test func aWipeThatIsMissingLeavesRecordSecretAndCount() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.resourceToken()
            _ = try await bench.managedToken()
            let settings = try await bench.settingsToken()
            _ = try await bench.unlock("9999")
            let (record, secret) = (try bench.document(), try bench.deviceSecret())
            let begun = try await bench.ask(Self.begin, token: settings).reply
            #expect(bench.service.registry.count == 0)
            try await bench.wipe(begun.removal, by: [.vault])
            for _ in 1...2 {
                #expect(
                    try await bench.refusal(FinishRemoval(removal: begun.removal))
                        == "credential.wipe_outstanding")
                try bench.restart()
                await bench.finishing()
            }
            #expect(try bench.document() == record)
            #expect(try bench.deviceSecret() == secret)
            #expect(record != nil && secret != nil)
            #expect(try bench.failed() == 1)
        }
    }

    @Test func wrongPasscodesAndStartsResetNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let (record, secret) = (try bench.document(), try bench.deviceSecret())
            for _ in 1...40 {
                _ = try await bench.unlock("9999")
                bench.clock.advance(seconds: 60)
            }
            for _ in 1...3 {
                try bench.restart()
                try bench.restartLimiter()
                await bench.finishing()
            }
            #expect(try bench.document() == record)
            #expect(try bench.deviceSecret() == secret)
            #expect(try bench.failed() == 40)
            #expect(try await bench.unlock("1234").isVerified)
        }
    }

    @Test func whoMayNotBeginsNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            #expect(try await bench.refusal(Self.begin) == "credential.not_authorised")
            let manage = try await bench.token(.managePasscode, audience: [])
            #expect(
                try await bench.refusal(Self.begin, token: manage) == "credential.not_authorised")
            let resource = try await bench.resourceToken()
            #expect(
                try await bench.refusal(Self.begin, token: resource)
                    == "credential.not_authorised")
            let settings = try await bench.settingsToken()
            #expect(
                try await bench.refusal(Self.begin, as: .otherApp, token: settings)
                    == "session.invalid")
            bench.peers.mayDestroy = false
            #expect(try await bench.refusal(Self.begin, token: settings) == "bus.forbidden")
            bench.peers.mayDestroy = true
            let begun = try await bench.ask(Self.begin, token: settings).reply
            bench.peers.mayDestroy = false
            #expect(try await bench.refusal(Self.begin) == "bus.forbidden")
            #expect(
                try await bench.refusal(FinishRemoval(removal: begun.removal)) == "bus.forbidden")
        }
    }

    @Test func aServiceIsToldOnlyOfWhatIsUnderWay() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let other = try #require(RemovalID([UInt8](repeating: 3, count: 16)))
            #expect(
                try await bench.refusal(CheckRemoval(removal: other), as: .vault)
                    == "credential.no_removal")
            let settings = try await bench.settingsToken()
            let begun = try await bench.ask(Self.begin, token: settings).reply
            for (request, peer, owner) in [
                (CheckRemoval(removal: other), Peer.vault, Owner.local),
                (CheckRemoval(removal: begun.removal), .shares, .local),
                (CheckRemoval(removal: begun.removal), .vault, .other),
            ] {
                #expect(
                    try await bench.refusal(request, as: peer, owner: owner)
                        == "credential.no_removal")
            }
            #expect(
                try await bench.refusal(ReportWiped(removal: begun.removal), as: .app)
                    == "bus.forbidden")
            #expect(
                try await bench.refusal(CheckRemoval(removal: begun.removal), as: .vault) == nil)
        }
    }

    @Test func aCheckUnderWayGivesNoSession() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let settings = try await bench.settingsToken()
            bench.kdf.isHeld = true
            let pending = bench.post(Verify(scope: .appUnlock, audience: []), secret: "1234")
            try await bench.settle()
            _ = try await bench.ask(Self.begin, token: settings)
            bench.kdf.letGo()
            #expect(try await bench.refusal(of: pending) == "credential.stale")
            #expect(bench.service.registry.count == 0)
        }
    }
}

extension Bench {
    /// What services do that wipe; those of a reset where none is named.
    func wipe(
        _ removal: RemovalID, by peers: [Peer] = [.vault, .migration]
    ) async throws {
        for peer in peers {
            _ = try await ask(CheckRemoval(removal: removal), as: peer)
            _ = try await ask(ReportWiped(removal: removal), as: peer)
        }
    }

    /// The record's bytes as they stand; nil where there is none.
    func document() throws -> [UInt8]? {
        try authority.group.store.firstRow("SELECT record FROM credentials") {
            row throws(StorageError) in try row.blob(0)
        }
    }

    /// What the limiter has; nil where it knows nobody.
    func deviceSecret() throws -> [UInt8]? {
        try limiter.group.store.firstRow("SELECT device_secret FROM owners") {
            row throws(StorageError) in try row.blob(0)
        }
    }

    /// What the authority does at its start, to its end.
    func finishing() async {
        let service = service
        var isDone = false
        ServiceLoop.start {
            await service.finishRemovals()
            isDone = true
        }
        try? await run { isDone }
    }
}
