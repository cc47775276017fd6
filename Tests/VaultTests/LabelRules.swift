import AuthorityDouble
import Secrets
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

/// A label moves nothing of what is written around it.
@Suite struct LabelRules {
    @Test(arguments: [
        "", "savings", "Spar\u{F6}konto", "\u{1F469}\u{200D}\u{1F467} family",
        "\u{6A9}\u{6CC}\u{641}\u{200C}\u{67E}\u{648}\u{644}", "\u{5D0}\u{5E8}\u{5E0}\u{5E7}",
        "two  blanks", String(repeating: "x", count: 64),
    ])
    func whatPeopleCallAWalletIsTaken(_ label: String) async throws {
        #expect(WalletLabel.isValid(label))
        try await LoopHarness.run {
            let rig = try Rig()
            #expect(try await rig.create(label: label).label == label)
            #expect(try await rig.bring(.bip39, label: label).label == label)
        }
    }

    /// Control characters of both sets, separators, and every `Bidi_Control`.
    @Test(
        arguments: [
            0x00, 0x09, 0x0A, 0x0D, 0x1B, 0x7F, 0x80, 0x85, 0x9B, 0x9F, 0x2028, 0x2029, 0x061C,
            0x200E,
            0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069,
        ] as [UInt32])
    func whatMovesTheTextAroundItIsRefused(_ number: UInt32) async throws {
        let scalar = try #require(Unicode.Scalar(number))
        let label = "a\(Character(scalar))b"
        #expect(!WalletLabel.isValid(label))
        try await LoopHarness.run {
            let rig = try Rig()
            let token = try rig.token(.resource(rig.main))
            #expect(
                try await rig.refusal(
                    CreateWallet(namespace: rig.main, label: label, words: 12), token: token)
                    == "bus.malformed")
            #expect(
                try await rig.refusal(
                    ImportWallet(
                        namespace: rig.main, label: label, walletKind: .bip39, expected: nil),
                    token: token, attachments: [Rig.secret(publishedPhrase)]) == "bus.malformed")
        }
    }

    @Test func aLabelHasSoManyBytes() {
        #expect(!WalletLabel.isValid(String(repeating: "x", count: 65)))
        #expect(!WalletLabel.isValid(String(repeating: "\u{F6}", count: 33)))
    }
}
