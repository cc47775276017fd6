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
        ("aaaa1", "AAAA1111-0000-4000-8000-000000000002"),
        ("C", "CCCC0000-0000-4000-8000-000000000004"),
        ("savings", "AAAA0000-0000-4000-8000-000000000001"),
        ("DDDD0000-", "DDDD0000-0000-4000-8000-000000000005"),
    ])
    func anIdItsBeginningOrALabelFindsAWallet(text: String, id: String) {
        #expect(found(text) == id)
    }

    @Test func aLabelComesBeforeTheBeginningOfAnId() {
        #expect(found("BBBB") == "CCCC0000-0000-4000-8000-000000000004")
        #expect(found("bbbb") == "BBBB0000-0000-4000-8000-000000000003")
    }

    @Test func severalThatFitAreNamedAndNoneTaken() {
        #expect(code("AAAA") == "coffer.ambiguous_wallet")
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
