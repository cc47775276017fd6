import AuthorityDouble
import Clocks
import Loop
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

/// The way from a TON mnemonic to its key may take longer than a lease lasts.
@Suite struct SlowKindRules {
    /// A vault whose machine takes a second for each long way.
    @ServiceLoop
    private static func slowRig() throws -> Rig {
        let rig = try Rig()
        rig.stretcher.meanwhile = { rig.clock.advance(milliseconds: 1_000) }
        return rig
    }

    @Test func aWalletComesInAllTheSame() async throws {
        try await LoopHarness.run {
            let rig = try Self.slowRig()
            let wallet = try await rig.bring(.ton)
            #expect(wallet.verified)
        }
    }

    @Test func aWalletIsCheckedUnderALeaseOfTheEnd() async throws {
        try await LoopHarness.run {
            let rig = try Self.slowRig()
            let wallet = try await rig.bring(.ton)
            rig.authority.publish()
            let check = CheckWallet(namespace: rig.main, wallet: wallet.wallet)
            let token = try rig.token(.resource(rig.main))
            let before = rig.authority.asked["authority.derive"] ?? 0
            #expect(try await rig.ask(check, token: token).reply == wallet)
            #expect(rig.authority.asked["authority.derive"] == before + 2)
        }
    }

    @Test func aSessionThatEndsOnTheWayEndsTheCheck() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(.ton).wallet
            let opened = try rig.authority.open(
                .resource(rig.main), for: rig.owner, holder: rig.app.key)
            rig.stretcher.meanwhile = { rig.authority.end(opened.session) }
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.main, wallet: wallet), token: opened.token)
                    == "session.ended")
        }
    }

    /// The same bytes lead to the same seed; others may not.
    @Test func theLongWayIsGoneAgainOnlyWhereAnEnvelopeChanged() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(.ton).wallet
            let check = CheckWallet(namespace: rig.main, wallet: wallet)
            let token = try rig.token(.resource(rig.main))
            let before = rig.stretcher.runs
            for _ in 0..<3 { #expect(try await rig.refusal(check, token: token) == "ok") }
            #expect(rig.stretcher.runs == before + 1)
            for slot in EnvelopeSlot.allCases {
                try rig.tamper { database in
                    try database.run(
                        """
                        UPDATE envelopes SET document = CAST(document || ' ' AS BLOB)
                        WHERE ref = ?1
                        """, .text(slot.reference(of: wallet)))
                }
                let before = rig.stretcher.runs
                for _ in 0..<2 { #expect(try await rig.refusal(check, token: token) == "ok") }
                #expect(rig.stretcher.runs == before + 1)
            }
        }
    }

    /// A proof has one lease, so nothing slow happens under it.
    @Test func aPhraseIsShownWithoutTheLongWay() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(.ton).wallet
            rig.stretcher.meanwhile = { Issue.record("the long way was gone") }
            #expect(try await rig.reveal(wallet) == KnownWallet.ton.phrase)
        }
    }

    /// And yet the phrase of another wallet is noticed.
    @Test func anExchangedPhraseIsRefusedEverywhere() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let first = try await rig.bring(.ton).wallet
            let second = try await rig.bring(.secondTON).wallet
            try rig.tamper { database in
                try database.run(
                    """
                    UPDATE envelopes SET document =
                    (SELECT document FROM envelopes WHERE ref = ?2) WHERE ref = ?1
                    """, .text(EnvelopeSlot.phrase.reference(of: first)),
                    .text(EnvelopeSlot.phrase.reference(of: second)))
            }
            #expect(
                try await rig.refusal(
                    RevealWallet(namespace: rig.main, wallet: first),
                    token: rig.token(.reveal(rig.main, first))) == "vault.identity_mismatch")
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.main, wallet: first),
                    token: rig.token(.resource(rig.main))) == "vault.identity_mismatch")
            #expect(try await rig.reveal(second) == KnownWallet.secondTON.phrase)
        }
    }
}
