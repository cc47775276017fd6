import AuthorityDouble
import BackupShares
import Loop
import Mnemonics
import Secrets
import Serving
import SharesMessages
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import SharesCore

/// Whatever stops in the middle of a restoration, what is told of it is what happened, and a wallet
/// never comes in twice.
@Suite(.timeLimit(.minutes(1)))
struct InterruptionRules {
    @Test func aWalletThatCameInUnheardIsFoundByWhoeverAsks() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.vault.weather[ImportWallet.method] = .lostAnswer
            let refusal = await #expect(throws: Refusal.self) { _ = try await job.restore() }
            #expect(refusal?.code == "shares.vault_silent")
            #expect(refusal?.outcome == .unknown)
            rig.vault.weather = [:]
            #expect(try await rig.wallets().count == 1)
            #expect(try await rig.outcome(of: job.key).status == .done)
            #expect(try await rig.restorations() == [])
            #expect(try await job.restore() == .installedEarlier(job.wallet))
            #expect(rig.vault.arrived[ImportWallet.method] == 1)
            #expect(try await rig.wallets().count == 1)
        }
    }

    @Test func aRepeatFindsItByItself() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.vault.weather[ImportWallet.method] = .lostAnswer
            #expect(try await code { try await job.restore() } == "shares.vault_silent")
            #expect(try await job.restore() == .installedEarlier(job.wallet))
        }
    }

    @Test func soDoesAnotherAttempt() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.vault.weather[ImportWallet.method] = .lostAnswer
            #expect(try await code { try await job.restore() } == "shares.vault_silent")
            let again = rig.newKey()
            #expect(try await job.restore(again, label: "x") == .installedEarlier(job.wallet))
            #expect(try await rig.outcome(of: again).status == .done)
            #expect(try await rig.outcome(of: job.key).status == .done)
        }
    }

    @Test func aRequestThatNeverArrivedDidNothing() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.vault.weather[ImportWallet.method] = .lostRequest
            #expect(try await code { try await job.restore() } == "shares.vault_silent")
            rig.vault.weather = [:]
            let told = try await rig.outcome(of: job.key)
            #expect(told == OutcomeReply(status: .rejected, code: "bus.interrupted"))
            #expect(try await code { try await job.restore() } == "bus.interrupted")
            #expect(try await rig.wallets() == [])
            #expect(installed(try await job.restore(rig.newKey())) != nil)
        }
    }

    @Test func aLateCopyDoesNothing() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.vault.weather[ImportWallet.method] = .held
            _ = try job.send()
            try await rig.turns()
            try rig.restart()
            rig.vault.weather = [:]
            #expect(try await rig.outcome(of: job.key).status == .rejected)
            rig.vault.letThrough()
            try await rig.turns()
            #expect(try await rig.wallets() == [])
            #expect(try await rig.restorations().count == 1)
            #expect(installed(try await job.restore(rig.newKey())) != nil)
        }
    }

    @Test func whileTheVaultDoesNotSayItStaysInFlight() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.vault.weather[ImportWallet.method] = .lostAnswer
            #expect(try await code { try await job.restore() } == "shares.vault_silent")
            try rig.restart()
            rig.vault.weather[AskOutcome<Vault>.method] = .outage
            #expect(try await rig.outcome(of: job.key).status == .inFlight)
            #expect(try await code { try await job.restore() } == "bus.in_flight")
            let other = try await code { try await job.restore(rig.newKey()) }
            #expect(other == "shares.vault_unreachable")
            // What has nothing to do with it goes on.
            #expect(try await rig.outcome(of: rig.newKey()).status == .rejected)
            try await rig.add(rig.holders[0])
            rig.vault.weather = [:]
            #expect(try await rig.outcome(of: job.key).status == .done)
            #expect(try await job.restore() == .installedEarlier(job.wallet))
        }
    }

    @Test func aKilledVaultIsAskedWhenItIsBack() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.vault.weather[ImportWallet.method] = .held
            let id = try job.send()
            try await rig.turns()
            rig.vault.weather = [:]
            rig.vault.letThrough()
            await LoopHarness.settle()
            try rig.vault.restart()
            rig.authority.publish()
            try await rig.finish()
            let code = try await code { try rig.answer(to: id, RestoreWallet.self) }
            #expect(code == "shares.vault_silent")
            let status = try await rig.outcome(of: job.key).status
            #expect(status != .inFlight)
            #expect(try await rig.wallets().count == (status == .done ? 1 : 0))
        }
    }

    @Test func anUnreachableVaultLeavesTheKeyToTryAgain() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.vault.weather[ImportWallet.method] = .outage
            for _ in 0..<2 {
                #expect(try await code { try await job.restore() } == "shares.vault_unreachable")
            }
            rig.vault.weather = [:]
            #expect(installed(try await job.restore()) != nil)
            #expect(try await rig.outcome(of: job.key).status == .done)
        }
    }

    /// The note that the vault was asked and the outcome go in one step: without the one nobody
    /// would settle the other.
    @Test func whatTheVaultRefusedIsNotLeftInFlight() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            _ = try await Job(rig).restore()
            let job = try await Job(rig)
            var wasAsked = false
            var isBroken = false
            rig.beforeTurnEnds = { [unowned rig] in
                let isAsking = (try? rig.service.unfinishedChanges().isEmpty) == false
                wasAsked = wasAsked || isAsking
                guard wasAsked, !isAsking, !isBroken else { return }
                isBroken = true
                // Nothing that comes after this step is written.
                _ = try? rig.database.write {
                    try rig.database.run(
                        """
                        CREATE TRIGGER broken BEFORE INSERT ON outcomes
                        BEGIN SELECT RAISE(ABORT, 'no'); END
                        """)
                }
            }
            #expect(try await code { try await job.restore() } == "vault.wallet_exists")
            #expect(isBroken)
            rig.beforeTurnEnds = nil
            let told = try await rig.outcome(of: job.key)
            #expect(told == OutcomeReply(status: .rejected, code: "vault.wallet_exists"))
        }
    }

    @Test(arguments: [VaultHouse.Weather.lostAnswer, .lostRequest])
    func givingUpAsksTheVaultFirst(_ weather: VaultHouse.Weather) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.vault.weather[ImportWallet.method] = weather
            #expect(try await code { try await job.restore() } == "shares.vault_silent")
            rig.vault.weather = [AskOutcome<Vault>.method: .outage]
            let abandon = AbandonRestoration(
                namespace: rig.main, restoration: job.restoration.restoration)
            let early = try await rig.refusal(abandon, token: rig.resource())
            #expect(early == "shares.vault_unreachable")
            rig.vault.weather = [:]
            let told = try await rig.refusal(abandon, token: rig.resource())
            #expect(told == (weather == .lostAnswer ? "shares.no_such_restoration" : "ok"))
            let status = try await rig.outcome(of: job.key).status
            #expect(status == (weather == .lostAnswer ? .done : .rejected))
            #expect(try await rig.restorations() == [])
        }
    }

    // MARK: At once

    @Test func aRestorationIsWorkedOnByOneAtATime() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            let first = try job.send()
            let second = try job.send(rig.newKey())
            let abandon = rig.send(
                AbandonRestoration(
                    namespace: rig.main, restoration: job.restoration.restoration),
                token: try rig.resource())
            try await rig.finish()
            #expect(installed(try rig.answer(to: first, RestoreWallet.self).reply) != nil)
            let codes = [
                try await code { try rig.answer(to: second, RestoreWallet.self) },
                try await code { try rig.answer(to: abandon, AbandonRestoration.self) },
            ]
            #expect(codes == ["shares.restoration_busy", "shares.restoration_busy"])
            #expect(try await rig.wallets().count == 1)
        }
    }

    @Test func twoRestorationsOfAWalletBringItInOnce() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let jobs = [try await Job(rig), try await Job(rig)]
            let sent = try jobs.map { try $0.send() }
            try await rig.finish()
            var codes: [String] = []
            for id in sent {
                codes.append(try await code { try rig.answer(to: id, RestoreWallet.self) })
            }
            #expect(codes.sorted() == ["ok", "vault.wallet_exists"])
            #expect(try await rig.wallets().count == 1)
            #expect(try await rig.restorations().count == 1)
        }
    }

    @Test func aSessionThatEndedInBetweenInstallsNothing() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.identifier.meanwhile = { rig.authority.endAll(of: rig.owner) }
            #expect(try await code { try await job.restore() } == "session.ended")
            #expect(rig.vault.arrived[ImportWallet.method] == nil)
            rig.identifier.meanwhile = nil
            rig.clock.advance(milliseconds: 1)
            #expect(installed(try await job.restore(rig.newKey())) != nil)
        }
    }

    @Test func aPhraseThatTakesLongIsNoReasonToFail() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.identifier.meanwhile = { rig.clock.advance(milliseconds: 400) }
            #expect(installed(try await job.restore()) != nil)
        }
    }

    @Test func whoDoesNotWaitAnyLongerGetsNothingInstalled() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            rig.identifier.meanwhile = { rig.clock.advance(milliseconds: 600) }
            let id = try job.send(timeout: 500)
            try await rig.finish()
            let code = try await code { try rig.answer(to: id, RestoreWallet.self) }
            #expect(code == "bus.overdue")
            #expect(rig.vault.arrived[ImportWallet.method] == nil)
        }
    }

    /// So that the vault's journal does not fill up.
    @Test func whatIsKnownIsNamedAsSettled() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let job = try await Job(rig)
            #expect(installed(try await job.restore()) != nil)
            let other = try await Job(rig, Phrase.yellow)
            #expect(rig.vault.settled == [])
            #expect(installed(try await other.restore()) != nil)
            #expect(rig.vault.settled.count == 1)
            let third = try await Job(rig, Phrase.yellow)
            #expect(try await code { try await third.restore() } == "vault.wallet_exists")
            #expect(rig.vault.settled.count == 2)
            #expect(Set(rig.vault.settled).count == 2)
        }
    }

    // MARK: A split beside a turn that is undone

    @Test func sharesWhoseManifestWasUndoneDoNotLeave() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let id = rig.send(
                SplitWallet(
                    namespace: rig.main, wallet: wallet,
                    holders: rig.holders.prefix(3).map(\.name)),
                token: try rig.token(.reveal(rig.main, wallet)))
            let (settings, session) = try rig.authority.open(
                .settings, for: rig.owner, holder: rig.app.key, audience: [.backupShares])
            while !rig.service.group.store.hasOpenBatch {
                await LoopHarness.settle()
                try rig.vault.endTurn()
            }
            _ = rig.send(
                AddHolder(name: rig.holders[3].name, publicKey: rig.holders[3].publicKey),
                token: settings)
            await LoopHarness.settle()
            rig.authority.end(session)
            try await rig.finish()
            let code = try await code { try rig.answer(to: id, SplitWallet.self) }
            #expect(code == "storage.failed" || code == "bus.busy")
            #expect(try await rig.splits() == [])
            #expect(try await rig.ask(ListHolders()).reply.holders.count == 3)
        }
    }
}

/// One wallet to be restored, with all that it takes.
@ServiceLoop
struct Job {
    let rig: Rig
    let restoration: RestorationDescription
    let files: [[UInt8]]
    let wallet: SharedWallet
    let key: IdempotencyKey

    init(_ rig: Rig, _ phrase: String = Phrase.about) async throws {
        self.rig = rig
        restoration = try await rig.begin()
        files = try rig.releaseForeign(try rig.foreign(phrase), for: restoration)
        wallet = try PhraseIdentity.wallet(of: secret(phrase), .bip39, nil).get()
        key = rig.newKey()
    }

    private func request(_ label: String) -> RestoreWallet {
        RestoreWallet(
            namespace: rig.main, restoration: restoration.restoration, label: label,
            expected: wallet.identity, walletKind: .bip39)
    }

    func send(_ key: IdempotencyKey? = nil, timeout: UInt64 = 5_000) throws -> UInt64 {
        rig.send(
            request("back"), token: try rig.resource(),
            attachments: files.map { secret($0) }, key: key ?? self.key, timeout: timeout)
    }

    func restore(
        _ key: IdempotencyKey? = nil, label: String = "back"
    ) async throws -> RestoreWallet.Reply {
        try await rig.ask(
            request(label), token: rig.resource(), attachments: files.map { secret($0) },
            key: key ?? self.key
        ).reply
    }
}
