import Testing
import VaultMessages
import Wire

@testable import CofferCore

@Suite struct WalletChoiceRules {
    private static func wallet(_ id: String, _ label: String) -> WalletDescription {
        WalletDescription(
            wallet: Fixture.walletID(id), kind: .bip39, label: label, identity: [],
            verified: false, words: 12)
    }

    private static let wallets = [
        wallet("AAAA0000-0000-4000-8000-000000000001", "savings"),
        wallet("AAAA1111-0000-4000-8000-000000000002", "daily"),
        wallet("BBBB0000-0000-4000-8000-000000000003", "daily"),
        wallet("CCCC0000-0000-4000-8000-000000000004", "BBBB"),
        wallet("DDDD0000-0000-4000-8000-000000000005", ""),
    ]

    private func found(_ text: String) -> String? {
        (try? WalletChoice.find(text, in: Self.wallets))?.wallet.text
    }

    private func code(_ text: String) -> String? {
        failure { () throws(CommandFailure) in
            _ = try WalletChoice.find(text, in: Self.wallets)
        }?.code
    }

    @Test(arguments: [
        ("AAAA0000-0000-4000-8000-000000000001", "AAAA0000-0000-4000-8000-000000000001"),
        ("aaaa1111-0000-4000-8000-000000000002", "AAAA1111-0000-4000-8000-000000000002"),
        ("aaaa1111", "AAAA1111-0000-4000-8000-000000000002"),
        ("CCCC0000-0", "CCCC0000-0000-4000-8000-000000000004"),
        ("BBBB", "CCCC0000-0000-4000-8000-000000000004"),
        ("savings", "AAAA0000-0000-4000-8000-000000000001"),
        ("DDDD0000-", "DDDD0000-0000-4000-8000-000000000005"),
    ])
    func anIdItsBeginningOrALabelFindsAWallet(text: String, id: String) {
        #expect(found(text) == id)
    }

    @Test func fewerThanEightCharactersAreNoId() {
        for text in ["C", "AAAA1", "DDDD000", ""] {
            #expect(code(text) == "vault.no_such_wallet")
        }
    }

    @Test func aWordThatIsALabelAndABeginningOfAnotherIdIsRefused() {
        let wallets = [
            Self.wallet("EEEE0000-0000-4000-8000-000000000006", "x"),
            Self.wallet("FFFF0000-0000-4000-8000-000000000007", "EEEE0000"),
            Self.wallet("99990000-0000-4000-8000-000000000008", "99990000"),
        ]
        let refused = failure { () throws(CommandFailure) in
            _ = try WalletChoice.find("EEEE0000", in: wallets)
        }
        #expect(refused?.code == "coffer.ambiguous_wallet")
        let own = try? WalletChoice.find("99990000", in: wallets)
        #expect(own?.label == "99990000")
    }

    @Test func severalThatFitAreNamedAndNoneTaken() {
        #expect(code("daily") == "coffer.ambiguous_wallet")
    }

    @Test func nothingFitsNothing() {
        #expect(code("EEEE") == "vault.no_such_wallet")
        #expect(code("AAAA0000-0000-4000-8000-000000000009") == "vault.no_such_wallet")
        #expect(code("Savings") == "vault.no_such_wallet")
    }

    @Test func aWholeIdNeedsNoList() throws {
        let fixture = Fixture()
        let run = try fixture.prepare(
            ["wallet", "check", Fixture.wallet.wallet.text.lowercased()])
        #expect(try run.walletID() == Fixture.wallet.wallet)
        #expect(fixture.services.seen.isEmpty)
    }
}
