import AuthorityDouble
import Loop
import Mnemonics
import Secrets
import Serving
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

@Suite struct WalletRules {
    @Test(arguments: [12, 24]) func aNewWalletHasAValidPhraseOfItsOwn(_ words: Int) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create(words: words)
            #expect(wallet.words == words)
            #expect(wallet.verified)
            #expect(wallet.kind == .bip39)
            let phrase = try await rig.reveal(wallet.wallet)
            #expect(phrase.split(separator: " ").count == words)
            let secret = Rig.secret(phrase)
            let isValid = Mnemonic.isValid(secret.bytes)
            #expect(isValid)
            #expect(try identity(of: phrase) == wallet.identity)
        }
    }

    @Test func aRevealedPhraseGivesTheSameWalletElsewhere() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create(words: 24)
            let phrase = try await rig.reveal(wallet.wallet)
            let elsewhere = try Rig(seed: 2)
            let imported = try await elsewhere.importPhrase(phrase, expected: wallet.identity)
            #expect(imported.identity == wallet.identity)
            #expect(imported.wallet != wallet.wallet)
            #expect(try await elsewhere.reveal(imported.wallet) == phrase)
        }
    }

    @Test func parallelCreatesMakeWalletsWhosePhraseIsTheirs() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let token = try rig.token(.resource(rig.main))
            let ids = (0..<20).map { number in
                rig.send(
                    CreateWallet(namespace: rig.main, label: "\(number)", words: 12), token: token)
            }
            try await rig.finish()
            let wallets = try ids.map { try rig.answer(to: $0, CreateWallet.self).reply }
            #expect(Set(wallets.map(\.wallet)).count == 20)
            #expect(Set(wallets.map(\.identity)).count == 20)
            #expect(wallets.map(\.label) == (0..<20).map { "\($0)" })
            for wallet in wallets {
                let phrase = try await rig.reveal(wallet.wallet)
                #expect(try identity(of: phrase) == wallet.identity)
            }
        }
    }

    @Test func aRepeatGivesTheSameWalletAndNoSecondOne() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let key = try #require(IdempotencyKey([UInt8](repeating: 5, count: 16)))
            let request = CreateWallet(namespace: rig.main, label: "one", words: 12)
            let token = try rig.token(.resource(rig.main))
            let first = try await rig.ask(request, token: token, key: key).reply
            let second = try await rig.ask(request, token: token, key: key).reply
            #expect(first == second)
            #expect(try await rig.list().map(\.wallet) == [first.wallet])
            let asked = try await rig.ask(
                AskOutcome<Vault>(key: key), token: []
            ).reply
            #expect(asked.status == .done)
        }
    }

    @Test func anImportTakesAPhraseAsPeopleTypeIt() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let typed = "  Abandon\u{3000}ABANDON\t" + publishedPhrase.dropFirst(16) + "\n"
            let wallet = try await rig.importPhrase(typed)
            #expect(
                Hex.encode(wallet.identity)
                    == "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494")
            #expect(wallet.words == 12)
            #expect(try await rig.reveal(wallet.wallet) == publishedPhrase)
        }
    }

    @Test(arguments: [
        "", "abandon", "about " + publishedPhrase.dropFirst(8),
        publishedPhrase + " about", "abandon abandon abandon",
        "zzz " + publishedPhrase.dropFirst(8),
        String(repeating: " ", count: 4_097),
    ])
    func whatIsNoPhraseIsRefused(_ text: String) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            await #expect(throws: VaultFault.invalidPhrase.refusal) {
                _ = try await rig.importPhrase(text)
            }
            #expect(rig.authority.asked["authority.derive"] == nil)
            #expect(try await rig.list().isEmpty)
        }
    }

    @Test func bytesThatAreNoTextAreNoPhrase() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let code = try await rig.refusal(
                ImportWallet(
                    namespace: rig.main, label: "", walletKind: .bip39, expected: nil),
                token: rig.token(.resource(rig.main)), attachments: [Rig.secret([0xFF, 0xFE, 0])])
            #expect(code == "vault.invalid_phrase")
        }
    }

    @Test func theExpectedIdentityIsComparedBeforeAnythingIsInstalled() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            await #expect(throws: VaultFault.unexpectedIdentity.refusal) {
                _ = try await rig.importPhrase(
                    publishedPhrase, expected: [UInt8](repeating: 3, count: 33))
            }
            #expect(try rig.service.store.walletCount() == 0)
        }
    }

    @Test func aWalletIsThereOnceInANamespace() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let first = try await rig.importPhrase(publishedPhrase)
            await #expect(throws: VaultFault.walletExists.refusal) {
                _ = try await rig.importPhrase(publishedPhrase)
            }
            #expect(try await rig.list().map(\.wallet) == [first.wallet])
            _ = try await rig.importPhrase(publishedPhrase, in: rig.spare)
            _ = try await rig.importPhrase(publishedPhrase, owner: rig.other)
        }
    }

    @Test func ownersAndNamespacesDoNotSeeEachOther() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create()
            #expect(try await rig.list(rig.spare).isEmpty)
            #expect(try await rig.list(owner: rig.other).isEmpty)
            let check = CheckWallet(namespace: rig.main, wallet: wallet.wallet)
            let theirs = try rig.token(.resource(rig.main), owner: rig.other)
            #expect(
                try await rig.refusal(check, owner: rig.other, token: theirs)
                    == "vault.no_such_wallet")
            // Somebody else's token opens nothing of this owner.
            #expect(try await rig.refusal(check, token: theirs) == "session.invalid")
            let elsewhere = CheckWallet(namespace: rig.spare, wallet: wallet.wallet)
            #expect(
                try await rig.refusal(elsewhere, token: rig.token(.resource(rig.spare)))
                    == "vault.no_such_wallet")
            #expect(try rig.service.owners() == [rig.owner])
            #expect(try rig.service.ownerCount() == 1)
        }
    }

    @Test func aNamespaceHoldsSoManyWallets() async throws {
        var limits = VaultLimits()
        limits.walletsPerNamespace = 3
        try await LoopHarness.run { [limits] in
            let rig = try Rig(limits: limits)
            for _ in 0..<3 { _ = try await rig.create() }
            await #expect(throws: VaultFault.full.refusal) { _ = try await rig.create() }
            #expect(try await rig.list().count == 3)
            _ = try await rig.create(in: rig.spare)
        }
    }

    @Test func aListIsPagedOldestFirst() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let token = try rig.token(.resource(rig.main))
            for number in 0..<205 {
                try await rig.ask(
                    CreateWallet(namespace: rig.main, label: "\(number)", words: 12), token: token)
            }

            var labels: [String] = []
            var pages: [Int] = []
            var after: WalletID?
            repeat {
                let page = try await rig.ask(
                    ListWallets(namespace: rig.main, after: after), token: token
                ).reply
                labels += page.wallets.map(\.label)
                pages.append(page.wallets.count)
                after = page.more ? page.wallets.last?.wallet : nil
            } while after != nil
            #expect(pages == [100, 100, 5])
            #expect(labels == (0..<205).map { "\($0)" })
            let nowhere = WalletID("11111111-2222-4333-8444-555555555555")
            #expect(
                try await rig.refusal(
                    ListWallets(namespace: rig.main, after: nowhere), token: token)
                    == "vault.no_such_wallet")
        }
    }

    @Test func afterARestartAWalletIsVerifiedOnceItWasOpened() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create()
            let before = try await rig.list().first
            #expect(before?.verified == true)
            try rig.service.rebuild()
            let fresh = try await rig.list().first
            #expect(fresh?.verified == false)
            let checked = try await rig.ask(
                CheckWallet(namespace: rig.main, wallet: wallet.wallet),
                token: rig.token(.resource(rig.main))
            ).reply
            #expect(checked.verified)
            let after = try await rig.list().first
            #expect(after == checked)
        }
    }

    @Test func aPhraseIsShownUnderItsProofOnly() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let other = try await rig.create(label: "other").wallet
            let request = RevealWallet(namespace: rig.main, wallet: wallet)
            for scope in [
                Scope.resource(rig.main), .settings, .sign(rig.main, wallet),
                .reveal(rig.main, other), .reveal(rig.spare, wallet), .appUnlock,
            ] {
                #expect(
                    try await rig.refusal(request, token: rig.token(scope))
                        == "lease.not_authorised")
            }
            #expect(try await rig.refusal(request, token: []) == "session.invalid")
            let proof = try rig.token(.reveal(rig.main, wallet))
            #expect(
                try await rig.refusal(request, from: rig.engine, token: proof) == "bus.forbidden")
            #expect(
                try await rig.refusal(request, from: rig.viewer, token: proof) == "session.invalid")
            #expect(try await rig.refusal(request, token: proof) == "ok")
            #expect(try await rig.refusal(request, token: proof) == "session.ended")
        }
    }

    @Test func aWalletThatIsNotThereCostsNoProof() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let nowhere = try #require(WalletID("11111111-2222-4333-8444-555555555555"))
            let proof = try rig.token(.reveal(rig.main, nowhere))
            #expect(
                try await rig.refusal(
                    RevealWallet(namespace: rig.main, wallet: nowhere), token: proof)
                    == "vault.no_such_wallet")
            #expect(rig.authority.asked["authority.derive"] == nil)
        }
    }

    @Test func thePoolStretchesWithoutHoldingUpTheLoop() async throws {
        try await LoopHarness.run {
            let rig = try Rig(stretcher: PooledStretcher(pool: WorkerPool(width: 2)))
            let wallet = try await rig.create()
            let phrase = try await rig.reveal(wallet.wallet)
            #expect(try identity(of: phrase) == wallet.identity)
        }
    }
}
