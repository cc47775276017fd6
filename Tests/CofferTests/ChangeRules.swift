import AuthorityMessages
import Testing
import VaultMessages
import Wire

@testable import CofferCore

/// What a person is told of a change whose answer did not come.
@Suite struct ChangeRules {
    private static let line = ["wallet", "create", "--label", "x"]

    private func fixture(creating: @escaping (Int) throws -> Void) -> Fixture {
        let fixture = Fixture(secrets: ["1234"])
        var calls = 0
        fixture.services.on(CreateWallet.self) { _, _ in
            calls += 1
            try creating(calls)
            return Answer(Fixture.wallet)
        }
        return fixture
    }

    private func outcomes(_ fixture: Fixture, _ replies: [OutcomeReply]) {
        var replies = replies
        fixture.services.on(AskOutcome<Vault>.self) { _, _ in
            Answer(replies.count > 1 ? replies.removeFirst() : replies[0])
        }
    }

    private func run(_ fixture: Fixture) throws(CommandFailure) -> Report {
        let run = try fixture.prepare(Self.line)
        return try run.invocation.verb.run(run)
    }

    @Test(arguments: [BusFault.expired, .lost, .badReply])
    func whatWasDoneIsToldWithItsAnswer(fault: BusFault) throws {
        let fixture = fixture { if $0 == 1 { throw fault } }
        outcomes(fixture, [OutcomeReply(status: .done, code: nil)])
        #expect(try run(fixture).text.contains(Fixture.wallet.wallet.text))
        let keys = fixture.services.seen(CreateWallet.self).map(\.header.idempotency)
        #expect(keys.count == 2)
        #expect(keys[0] != nil && keys[0] == keys[1])
    }

    @Test func whatWasDoneIsToldEvenWhereTheAnswerCannotBeHad() throws {
        let fixture = fixture { _ in throw BusFault.lost }
        outcomes(fixture, [OutcomeReply(status: .done, code: nil)])
        #expect(try run(fixture).text.contains("The wallet is made"))
    }

    @Test func whatWasNotDoneIsAFailureWithItsReason() {
        let fixture = fixture { _ in throw BusFault.expired }
        outcomes(
            fixture, [OutcomeReply(status: .rejected, code: VaultFault.walletExists.rawValue)])
        let failed = failure { () throws(CommandFailure) in _ = try run(fixture) }
        #expect(failed?.code == "vault.wallet_exists")
        #expect(failed?.exitCode == .refused)
        #expect(failed?.refusal.outcome == .rejected)
    }

    @Test func whatIsUnderWayIsAskedForAgain() throws {
        let fixture = fixture { if $0 == 1 { throw BusFault.expired } }
        let waiting = OutcomeReply(status: .inFlight, code: nil)
        outcomes(fixture, [waiting, waiting, OutcomeReply(status: .done, code: nil)])
        #expect(try run(fixture).exitCode == .done)
        #expect(fixture.services.seen(AskOutcome<Vault>.self).count == 3)
    }

    @Test func whatIsNotKnownIsSaidWithTheCommandThatAsksLater() throws {
        let fixture = fixture { _ in throw StorageFault.residue.refusal }
        fixture.services.on(AskOutcome<Vault>.self) { _, _ in
            throw StorageFault.residue.refusal
        }
        let failed = failure { () throws(CommandFailure) in _ = try run(fixture) }
        let key = try #require(
            fixture.services.seen(CreateWallet.self).first?.header.idempotency)
        #expect(failed?.exitCode == .outcomeUnknown)
        #expect(failed?.refusal.outcome == .unknown)
        #expect(failed?.refusal.message.contains("coffer outcome vault \(key.text)") == true)
    }

    @Test func nothingIsAskedWhereTheServiceSaidThatNothingHappened() {
        let fixture = fixture { _ in throw VaultFault.full.refusal }
        let failed = failure { () throws(CommandFailure) in _ = try run(fixture) }
        #expect(failed?.code == "vault.full")
        #expect(fixture.services.seen(AskOutcome<Vault>.self).isEmpty)
    }

    @Test func everyThingThatIsEnteredHasAKeyOfItsOwnAndKnownOnesAreSettled() throws {
        let fixture = fixture { _ in }
        let run = try fixture.prepare(Self.line)
        let caller = try run.caller()
        let request = CreateWallet(namespace: try run.namespace(), label: "", words: 12)
        for _ in 0..<2 {
            _ = try caller.change(request, key: caller.newKey(), token: [])
        }
        let seen = fixture.services.seen(CreateWallet.self)
        #expect(seen[0].header.idempotency != seen[1].header.idempotency)
        #expect(seen[0].header.settled == [])
        #expect(seen[1].header.settled == [seen[0].header.idempotency])
    }

    @Test(arguments: [
        (OutcomeReply(status: .done, code: nil), ExitCode.done),
        (OutcomeReply(status: .rejected, code: "vault.full"), .refused),
        (OutcomeReply(status: .inFlight, code: nil), .outcomeUnknown),
    ])
    func theOutcomeCanBeAskedForLater(reply: OutcomeReply, exit: ExitCode) throws {
        let fixture = Fixture()
        outcomes(fixture, [reply])
        let key = String(repeating: "0a", count: 16)
        #expect(try fixture.run("outcome", "wallet-vault", key).report.exitCode == exit)
        #expect(try fixture.json("outcome", "vault", key).string("outcome") == reply.status.text)
    }
}
