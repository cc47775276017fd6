import AuthorityMessages
import Secrets
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// A wallet opens with its passcode, keeps its identity, and survives whatever is killed.
    @Suite(.timeLimit(.minutes(3)))
    struct WalletRules {
        private let phrase = String(repeating: "abandon ", count: 11) + "about"
        /// The compressed BIP-32 master public key of that phrase.
        private let identity = "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494"

        @Test func aPublishedPhraseComesInAndGoesOutUnchanged() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            let bring = ImportWallet(
                namespace: main, label: "old", walletKind: .bip39, expected: nil)
            let wallet = try client.call(bring, token: token, secrets: [secret(phrase)]).reply
            #expect(Hex.encode(wallet.identity) == identity)
            let proof = try known(client.unlock("1234", scope: .reveal(main, wallet.wallet)))
            let shown = try client.call(
                RevealWallet(namespace: main, wallet: wallet.wallet), token: proof)
            #expect(shown.attachments.first?.bytes.withBytes { Array($0) } == Array(phrase.utf8))
            let again = refusal { try client.call(bring, token: token, secrets: [secret(phrase)]) }
            #expect(again == "vault.wallet_exists")
        }

        @Test func allThatWasAcknowledgedIsThereAfterKills() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            var token = try client.resourceToken("1234")
            var wallets: [WalletDescription] = []
            for service in TestHome.services {
                wallets.append(
                    try client.call(
                        CreateWallet(namespace: main, label: service.text, words: 24), token: token
                    ).reply)
                try home.restart(service)
                token = try client.resourceToken("1234")
            }
            let listed = try client.call(ListWallets(namespace: main), token: token).reply.wallets
            #expect(listed.map(\.wallet) == wallets.map(\.wallet))
            #expect(listed.map(\.identity) == wallets.map(\.identity))
            for wallet in wallets {
                let check = CheckWallet(namespace: main, wallet: wallet.wallet)
                #expect(try client.call(check, token: token).reply.identity == wallet.identity)
            }
        }

        @Test func aRepeatedChangeMakesNoSecondWallet() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            let key = try known(IdempotencyKey(KernelRandom().bytes(16)))
            let create = CreateWallet(namespace: main, label: "one", words: 12)
            let first = try client.call(create, token: token, key: key).reply
            let second = try client.call(create, token: token, key: key).reply
            #expect(first.wallet == second.wallet)
            let other = CreateWallet(namespace: main, label: "two", words: 12)
            #expect(refusal { try client.call(other, token: token, key: key) } == "bus.key_reused")
            let count = try client.call(ListWallets(namespace: main), token: token).reply.wallets
                .count
            #expect(count == 1)
            let outcome = try client.call(AskOutcome<Vault>(key: key)).reply
            #expect(outcome.status == .done)
        }

        @Test func signingFollowsTheOwnersPolicy() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            let wallet = try client.call(
                CreateWallet(namespace: main, label: "", words: 12), token: token
            ).reply.wallet
            let sign = SignWithWallet(
                namespace: main, wallet: wallet, scheme: .ed25519, path: "m/44'/0'")
            let message = [secret("message")]
            #expect(
                refusal { try client.call(sign, token: token, secrets: message) }
                    == "lease.not_authorised")
            let proof = try known(client.unlock("1234", scope: .sign(main, wallet)))
            let signed = try client.call(sign, token: proof, secrets: message).reply
            let settings = try known(client.unlock("1234", scope: .settings, audience: []))
            _ = try client.call(SetSignPolicy(policy: .session), token: settings)
            let hot = try client.call(sign, token: token, secrets: message).reply
            #expect(hot == signed)
        }

        @Test func removingTakesASettingsSessionAndAPeerThatMayDestroy() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            let careful = try home.newClient("careful", mayDestroy: false)
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            let wallet = try client.call(
                CreateWallet(namespace: main, label: "", words: 12), token: token
            ).reply.wallet
            let remove = RemoveWallet(namespace: main, wallet: wallet)
            #expect(refusal { try client.call(remove, token: token) } == "lease.not_authorised")
            let theirs = try known(careful.unlock("1234", scope: .settings))
            #expect(refusal { try careful.call(remove, token: theirs) } != nil)
            let settings = try known(client.unlock("1234", scope: .settings))
            _ = try client.call(remove, token: settings)
            #expect(try client.call(ListWallets(namespace: main), token: token).reply.wallets == [])
        }
    }
}
