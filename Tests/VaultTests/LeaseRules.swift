import AuthorityDouble
import AuthorityMessages
import Clocks
import Loop
import Secrets
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import AuthorityClient
@testable import VaultCore

@Suite struct LeaseRules {
    @Test func aLeaseThatRunsOutBeforeTheCommitDropsTheWork() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let request = CreateWallet(namespace: rig.main, label: "late", words: 12)
            rig.stretcher.meanwhile = { rig.clock.advance(milliseconds: 250) }
            #expect(
                try await rig.refusal(request, token: rig.token(.resource(rig.main)))
                    == "lease.over")
            #expect(try rig.service.store.walletCount() == 0)

            rig.stretcher.meanwhile = { rig.clock.advance(milliseconds: 249) }
            #expect(
                try await rig.refusal(request, token: rig.token(.resource(rig.main))) == "ok")
            #expect(try rig.service.store.walletCount() == 1)
        }
    }

    @Test func aLeaseThatRunsOutBeforeTheReplyShowsNothing() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            rig.stretcher.meanwhile = { rig.clock.advance(milliseconds: 250) }
            #expect(
                try await rig.refusal(
                    RevealWallet(namespace: rig.main, wallet: wallet),
                    token: rig.token(.reveal(rig.main, wallet))) == "lease.over")
        }
    }

    /// The time that the answer takes is part of the lease.
    @Test func aLeaseCountsFromTheSendingOfTheRequest() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let request = SignWithWallet(
                namespace: rig.main, wallet: wallet, scheme: .ed25519, path: "m/0'")
            for (delay, code) in [(UInt64(249), "ok"), (250, "lease.over")] {
                rig.authority.onTheWay = { method in
                    if method == "authority.derive" { rig.clock.advance(milliseconds: delay) }
                }
                #expect(
                    try await rig.refusal(
                        request, token: rig.token(.sign(rig.main, wallet)),
                        attachments: [Rig.secret([1])]) == code)
            }
        }
    }

    @Test func noLeaseIsLongerThanTheSessionOrAQuarterOfASecond() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            rig.authority.leaseMilliseconds = 60_000
            let request = CreateWallet(namespace: rig.main, label: "", words: 12)
            rig.stretcher.meanwhile = { rig.clock.advance(milliseconds: 250) }
            #expect(
                try await rig.refusal(request, token: rig.token(.resource(rig.main)))
                    == "lease.over")

            let token = try rig.token(.resource(rig.main), seconds: 1)
            rig.stretcher.meanwhile = { rig.clock.advance(milliseconds: 100) }
            rig.clock.advance(milliseconds: 850)
            #expect(try await rig.refusal(request, token: token) == "ok")
            rig.clock.advance(milliseconds: 1)
            #expect(try await rig.refusal(request, token: token) == "lease.over")
            #expect(try await rig.refusal(request, token: token) == "session.ended")
        }
    }

    @Test func aResourceLeaseServesAgainUntilItEnds() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let token = try rig.token(.resource(rig.main))
            let check = CheckWallet(namespace: rig.main, wallet: wallet)
            @ServiceLoop func derives() -> Int { rig.authority.asked["authority.derive"] ?? 0 }
            let before = derives()
            for _ in 0..<5 { #expect(try await rig.refusal(check, token: token) == "ok") }
            #expect(derives() == before + 1)
            // Too near its end to be used again.
            rig.clock.advance(milliseconds: 201)
            #expect(try await rig.refusal(check, token: token) == "ok")
            #expect(derives() == before + 2)
        }
    }

    @Test func aLeaseServesOnlyTheSessionAndNamespaceItWasGivenFor() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let check = CheckWallet(namespace: rig.main, wallet: wallet)
            let first = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key)
            _ = try await rig.ask(check, token: first.token)
            rig.authority.end(first.session, silently: true)
            let second = try rig.token(.resource(rig.main))
            let before = rig.authority.asked["authority.derive"] ?? 0
            _ = try await rig.ask(check, token: second)
            #expect(rig.authority.asked["authority.derive"] == before + 1)
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.spare, wallet: wallet), token: second)
                    == "lease.not_authorised")
        }
    }

    @Test func aRevocationDropsALeaseAtOnce() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let check = CheckWallet(namespace: rig.main, wallet: wallet)
            let opened = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key)
            #expect(try await rig.refusal(check, token: opened.token) == "ok")
            #expect(rig.service.link.leaseCount > 0)
            rig.authority.end(opened.session)
            #expect(try await rig.refusal(check, token: opened.token) == "session.ended")

            let another = try rig.token(.resource(rig.main))
            #expect(try await rig.refusal(check, token: another) == "ok")
            rig.authority.endAll(of: rig.owner)
            #expect(rig.service.link.leaseCount == 0)
            #expect(try await rig.refusal(check, token: another) == "session.ended")
        }
    }

    /// Of one owner; another's goes on.
    @Test func aRevocationOfOneOwnerLeavesTheOther() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create(owner: rig.other).wallet
            let token = try rig.token(.resource(rig.main), owner: rig.other)
            let check = CheckWallet(namespace: rig.main, wallet: wallet)
            _ = try await rig.ask(check, owner: rig.other, token: token)
            let before = rig.authority.asked["authority.derive"]
            rig.authority.publish(
                .ownerRevoked, owner: rig.owner, issuedUpTo: rig.clock.now.nanoseconds)
            _ = try await rig.ask(check, owner: rig.other, token: token)
            #expect(rig.authority.asked["authority.derive"] == before)
        }
    }

    @Test(arguments: [true, false]) func workUnderARevokedLeaseIsDropped(
        _ isWholeOwner: Bool
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let opened = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key)
            rig.stretcher.meanwhile = {
                if isWholeOwner {
                    rig.authority.endAll(of: rig.owner)
                } else {
                    rig.authority.end(opened.session)
                }
            }
            #expect(
                try await rig.refusal(
                    CreateWallet(namespace: rig.main, label: "", words: 12), token: opened.token)
                    == "session.ended")
            #expect(try rig.service.store.walletCount() == 0)
        }
    }

    @Test func aRevocationThatOvertakesTheAnswerIsNotForgotten() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let opened = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key)
            rig.authority.onTheWay = { method in
                if method == "authority.derive" { rig.authority.end(opened.session) }
            }
            #expect(
                try await rig.refusal(
                    CreateWallet(namespace: rig.main, label: "", words: 12), token: opened.token)
                    == "session.ended")
            #expect(try rig.service.store.walletCount() == 0)
            #expect(rig.service.link.leaseCount == 0)
        }
    }

    /// A proof's session ends by being used, and the authority may say so.
    @Test func theEndOfASpentProofDoesNotStopItsOperation() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let proof = try rig.authority.open(
                .reveal(rig.main, wallet), for: rig.owner, holder: rig.app.key)
            rig.authority.onTheWay = { method in
                if method == "authority.derive" {
                    rig.authority.publish(.revoked, session: proof.session)
                }
            }
            let request = RevealWallet(namespace: rig.main, wallet: wallet)
            #expect(try await rig.refusal(request, token: proof.token) == "ok")
            #expect(try await rig.refusal(request, token: proof.token) == "session.ended")
        }
    }

    @Test func aLockEndsTheOperationOfAProofToo() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            rig.stretcher.meanwhile = { rig.authority.endAll(of: rig.owner) }
            #expect(
                try await rig.refusal(
                    RevealWallet(namespace: rig.main, wallet: wallet),
                    token: rig.token(.reveal(rig.main, wallet))) == "session.ended")
        }
    }

    @Test func keysAreLetGoWhenTheirLeaseIsOver() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            _ = try await rig.create()
            #expect(rig.service.link.leaseCount == 1)
            await rig.pass(milliseconds: 249)
            #expect(rig.service.link.leaseCount == 1)
            await rig.pass(milliseconds: 1)
            #expect(rig.service.link.leaseCount == 0)
            #expect(rig.timers.nextDeadline == nil)
            _ = try await rig.create()
            #expect(rig.service.link.leaseCount == 1)
            await rig.pass(milliseconds: 250)
            #expect(rig.service.link.leaseCount == 0)
        }
    }

    @Test func leasesThatWereLetGoLeaveNothing() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            for _ in 0..<50 { _ = try await rig.reveal(wallet) }
            #expect(rig.service.link.knownLeaseCount <= 16)
        }
    }

    @Test(arguments: [
        (BusFault.unreachable, "lease.authority_unreachable"),
        (.lost, "lease.authority_unreachable"),
        (.expired, "lease.authority_unreachable"),
        (.unadmitted, "lease.authority_unreachable"),
    ])
    func withoutTheAuthorityNothingIsOpened(_ outage: BusFault, _ code: String) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let token = try rig.token(.resource(rig.main))
            rig.authority.outage = outage
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.main, wallet: wallet), token: token) == code)
            #expect(
                try await rig.refusal(
                    CreateWallet(namespace: rig.main, label: "", words: 12), token: token) == code)
            rig.authority.outage = nil
            #expect(try rig.service.store.walletCount() == 1)
        }
    }

    @Test(arguments: [
        (BusFault.busy.refusal, "bus.busy"),
        (SessionFault.ended.refusal, "session.ended"),
        (SessionFault.invalid.refusal, "session.invalid"),
        (BusFault.forbidden.refusal, "lease.not_authorised"),
        (BusFault.unadmitted.refusal, "lease.authority_unreachable"),
        (BusFault.internalError.refusal, "lease.authority_unreachable"),
        (
            Refusal(code: "credential.locked", message: "", outcome: .rejected),
            "credential.locked"
        ),
        (
            Refusal(code: "credential.not_authorised", message: "", outcome: .rejected),
            "lease.not_authorised"
        ),
        (
            Refusal(code: "storage.failed", message: "", outcome: .unknown),
            "lease.authority_unreachable"
        ),
    ])
    func theAuthoritysRefusalsAreToldInTheVaultsWords(
        _ refusal: Refusal, _ code: String
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let token = try rig.token(.resource(rig.main))
            rig.authority.refusal = refusal
            do {
                try await rig.ask(
                    CheckWallet(namespace: rig.main, wallet: wallet), token: token)
                Issue.record("it was answered")
            } catch let told as Refusal {
                #expect(told.code == code)
                #expect(told.outcome == .rejected)
                // No session of the caller's helps where the service itself is not let in.
                let isItself = ["bus.forbidden", "bus.unadmitted"].contains(refusal.code)
                #expect(told.message.contains("`coffer init`") == isItself)
                #expect(!isItself || !told.message.contains("passcode"))
                #expect(!isItself || !told.message.contains("launch"))
            }
        }
    }
}
