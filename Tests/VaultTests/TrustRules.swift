import AuthorityDouble
import AuthorityMessages
import Clocks
import Loop
import Serving
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import AuthorityClient
@testable import VaultCore

/// When a list may rely on the authority's events, and when it asks.
@Suite struct TrustRules {
    /// A rig with a session that was asked for once, and a way to list under it.
    @ServiceLoop
    private struct Reader {
        let rig: Rig
        let token: [UInt8]
        let session: SessionID

        init() async throws {
            rig = try Rig()
            let opened = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key)
            token = opened.token
            session = opened.session
            #expect(try await list() == "ok")
        }

        func list() async throws -> String {
            try await rig.refusal(ListWallets(namespace: rig.main), token: token)
        }

        var checks: Int { rig.authority.asked["authority.check_session"] ?? 0 }

        /// Lists, and says whether the authority was asked for it.
        func listAsks() async throws -> Bool {
            let before = checks
            #expect(try await list() == "ok")
            return checks > before
        }
    }

    @Test func aSessionIsAskedForOnceWhileNothingIsMissed() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            #expect(reader.checks == 1)
            for _ in 0..<5 {
                await reader.rig.pass(milliseconds: 1_000)
                #expect(try await !reader.listAsks())
            }
        }
    }

    @Test func twoSecondsOfSilenceMakeItAskAnew() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            await reader.rig.pass(milliseconds: 1_999, heartbeats: false)
            #expect(try await !reader.listAsks())
            await reader.rig.pass(milliseconds: 1, heartbeats: false)
            #expect(try await reader.listAsks())
            // Every time, as long as the silence lasts.
            #expect(try await reader.listAsks())
            reader.rig.authority.publish()
            #expect(try await reader.listAsks())
            #expect(try await !reader.listAsks())
        }
    }

    @Test func anEventAfterSilenceBringsNoTrustBack() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            await reader.rig.pass(milliseconds: 2_000, heartbeats: false)
            reader.rig.authority.publish()
            #expect(try await reader.listAsks())
        }
    }

    @Test func aGapMakesItAskAnew() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            reader.rig.authority.loseEvent()
            #expect(try await !reader.listAsks())
            reader.rig.authority.publish()
            #expect(try await reader.listAsks())
            #expect(try await !reader.listAsks())
        }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"run":"00"}"#,
        #"{"run":"01010101010101010101010101010101","number":2,"kind":"revoked"}"#,
        #"{"run":"01010101010101010101010101010101","number":2,"kind":"owner_revoked"}"#,
        #"{"run":"01010101010101010101010101010101","number":2,"kind":"news"}"#,
    ])
    func anEventThatCannotBeReadCountsAsAGap(_ text: String) async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            reader.rig.authority.publish(raw: Array(text.utf8))
            #expect(try await reader.listAsks())
            #expect(!reader.rig.service.link.hearsAuthority)
        }
    }

    @Test func aBrokenConnectionMakesItAskAnew() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            reader.rig.authority.notify(.disconnected)
            #expect(try await reader.listAsks())
            reader.rig.authority.notify(.connected)
            #expect(try await reader.listAsks())
            reader.rig.authority.publish()
            #expect(try await reader.listAsks())
            #expect(try await !reader.listAsks())
        }
    }

    @Test func aRevocationThatWasMissedIsLearntByAsking() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            reader.rig.authority.end(reader.session, silently: true)
            reader.rig.authority.loseEvent()
            reader.rig.authority.publish()
            #expect(try await reader.list() == "session.ended")
        }
    }

    @Test func aRevocationThatIsHeardEndsASession() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            reader.rig.authority.end(reader.session)
            #expect(try await reader.list() == "session.ended")
            #expect(reader.checks == 1)
        }
    }

    @Test func theEndOfAllSessionsSparesThoseOpenedSince() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            let moment = reader.rig.clock.now.nanoseconds
            reader.rig.clock.advance(milliseconds: 1)
            let later = try reader.rig.token(.resource(reader.rig.main))
            let request = ListWallets(namespace: reader.rig.main)
            #expect(try await reader.rig.refusal(request, token: later) == "ok")
            let before = reader.checks
            reader.rig.authority.publish(
                .ownerRevoked, owner: reader.rig.owner, issuedUpTo: moment)
            #expect(try await reader.rig.refusal(request, token: later) == "ok")
            #expect(reader.checks == before)
            // The earlier one is over, and nobody needs to be asked.
            #expect(try await reader.list() == "session.ended")
            #expect(reader.checks == before)
        }
    }

    @Test func newsThatOvertakesTheAnswerIsHeeded() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let opened = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key)
            rig.authority.onTheWay = { method in
                if method == "authority.check_session" { rig.authority.end(opened.session) }
            }
            #expect(
                try await rig.refusal(ListWallets(namespace: rig.main), token: opened.token)
                    == "session.ended")
        }
    }

    @Test func aNewRunEndsEverySessionAndBringsItsOwnKeys() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            let rig = reader.rig
            try rig.authority.restart()
            rig.authority.publish()
            #expect(try await reader.list() == "session.invalid")
            let new = try rig.token(.resource(rig.main))
            let request = ListWallets(namespace: rig.main)
            rig.clock.advance(milliseconds: 500)
            #expect(try await rig.refusal(request, token: new) == "ok")
        }
    }

    /// Not for what is kept under a key either, which needs no lease.
    @Test func nobodyPassesWhileTheKeysOfANewRunAreAskedFor() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let token = try rig.token(.resource(rig.main))
            let key = rig.newKey()
            let request = CreateWallet(namespace: rig.main, label: "", words: 12)
            _ = try await rig.ask(request, token: token, key: key)
            rig.clock.advance(milliseconds: 500)
            try rig.authority.restart()
            rig.authority.publish()
            let ids = (0..<2).map { _ in rig.send(request, token: token, key: key) }
            try await rig.finish()
            for id in ids {
                let refusal = #expect(throws: Refusal.self) {
                    try rig.answer(to: id, CreateWallet.self)
                }
                #expect(refusal?.code == "session.invalid")
            }
        }
    }

    @Test func aTokenOfANewRunIsTakenBeforeItsFirstEvent() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            let rig = reader.rig
            try rig.authority.restart()
            rig.clock.advance(milliseconds: 500)
            let new = try rig.token(.resource(rig.main))
            let request = ListWallets(namespace: rig.main)
            #expect(try await rig.refusal(request, token: new) == "ok")
            // It is not trusted until the new run is heard.
            let before = reader.checks
            #expect(try await rig.refusal(request, token: new) == "ok")
            #expect(reader.checks == before + 1)
            rig.authority.publish()
            #expect(try await rig.refusal(request, token: new) == "ok")
            let asked = reader.checks
            #expect(try await rig.refusal(request, token: new) == "ok")
            #expect(reader.checks == asked)
        }
    }

    @Test func aNewRunStopsWorkOfTheOldOne() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let token = try rig.token(.resource(rig.main))
            rig.stretcher.meanwhile = {
                try? rig.authority.restart()
                rig.authority.publish()
            }
            #expect(
                try await rig.refusal(
                    CreateWallet(namespace: rig.main, label: "", words: 12), token: token)
                    == "session.ended")
            #expect(try rig.service.store.walletCount() == 0)
        }
    }

    @Test func aReusedLeaseIsForgottenWithTheTrust() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let opened = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key)
            let check = CheckWallet(namespace: rig.main, wallet: wallet)
            #expect(try await rig.refusal(check, token: opened.token) == "ok")
            rig.authority.end(opened.session, silently: true)
            #expect(try await rig.refusal(check, token: opened.token) == "ok")
            rig.authority.loseEvent()
            rig.authority.publish()
            #expect(try await rig.refusal(check, token: opened.token) == "session.ended")
        }
    }

    @Test func rubbishDoesNotMakeTheVaultAskWithoutEnd() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            let request = ListWallets(namespace: reader.rig.main)
            let before = reader.rig.authority.asked["authority.token_keys"] ?? 0
            for number in 0..<20 {
                #expect(
                    try await reader.rig.refusal(request, token: [UInt8(number)])
                        == "session.invalid")
            }
            let asked = reader.rig.authority.asked["authority.token_keys"] ?? 0
            #expect(asked - before <= 1)
        }
    }

    @Test func manyFirstRequestsFetchTheKeysOnce() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let token = try rig.token(.resource(rig.main))
            let ids = (0..<10).map { _ in
                rig.send(ListWallets(namespace: rig.main), token: token)
            }
            try await rig.finish()
            for id in ids { _ = try rig.answer(to: id, ListWallets.self) }
            #expect(rig.authority.asked["authority.token_keys"] == 1)
        }
    }

    @Test func aTokenIsTakenFromItsHolderOrAServiceOfItsAudience() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let check = CheckWallet(namespace: rig.main, wallet: wallet)
            let plain = try rig.token(.resource(rig.main))
            #expect(
                try await rig.refusal(check, from: rig.shares, token: plain) == "session.invalid")
            #expect(
                try await rig.refusal(check, from: rig.viewer, token: plain) == "session.invalid")
            let wide = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key,
                audience: [.walletVault, .backupShares])
            #expect(try await rig.refusal(check, from: rig.shares, token: wide.token) == "ok")
            let foreign = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key,
                audience: [.backupShares])
            #expect(try await rig.refusal(check, token: foreign.token) == "session.invalid")
        }
    }

    @Test func healthSaysWhetherTheAuthorityIsHeard() async throws {
        try await LoopHarness.run {
            let reader = try await Reader()
            #expect(reader.rig.service.problem() == nil)
            await reader.rig.pass(milliseconds: 2_000, heartbeats: false)
            #expect(reader.rig.service.problem() != nil)
        }
    }
}
