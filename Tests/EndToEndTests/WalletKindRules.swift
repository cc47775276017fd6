import AuthorityMessages
import Crypto
import HDKeys
import Secrets
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// A wallet of every kind, from its published phrase to its removal.
    @Suite(.timeLimit(.minutes(3)))
    struct WalletKindRules {
        /// A wallet that everybody knows, and the key that it signs with.
        struct Known: Sendable, CustomTestStringConvertible {
            let kind: WalletKind
            var network: WalletNetwork?
            let phrase: String
            /// In hex.
            let identity: String
            let scheme: SignatureScheme
            let path: String
            /// In hex.
            let publicKey: String

            var testDescription: String { "\(kind.text) \(network?.text ?? "")" }
        }

        private static let about = String(repeating: "abandon ", count: 11) + "about"
        private static let yellow =
            "legal winner thank year wave sausage worth useful legal winner thank yellow"

        static let wallets = [
            Known(
                kind: .bip39, phrase: about,
                identity: "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494",
                scheme: .secp256k1, path: "m/44'/0'/0'/0/0",
                publicKey: "03aaeb52dd7494c361049de67cc680e83ebcbbbdbeb13637d92cd845f70308af5e"),
            Known(
                kind: .dash, network: .mainnet, phrase: about,
                identity: "0b91f36de2613a410303e8309b4f92a150738ae018695d2030b33e64ccea7b2e",
                scheme: .secp256k1, path: "m/44'/5'/0'/0/0",
                publicKey: "026fa9a6f213b6ba86447965f6b4821264aaadd7521f049f00db9c43a770ea7405"),
            Known(
                kind: .dash, network: .testnet, phrase: yellow,
                identity: "d4b66551a0b790cd8ddda4746f0663f7800116f7295a1b9dea8297de65f30eae",
                scheme: .ed25519, path: "m/44'/607'/0'",
                publicKey: "434908c4c092113fcced4eec061b09c02b7b8934a9ca555e2032505aab7558ea"),
            Known(
                kind: .ton,
                phrase: """
                    hospital stove relief fringe tongue always charge angry urge sentence again \
                    match nerve inquiry senior coconut label tumble carry category beauty bean \
                    road solution
                    """,
                identity: "f6c450a16bb1c514e22f1977e390a3025599aa1e7b00068a6aacf2119484c1bd",
                scheme: .ed25519, path: "m",
                publicKey: "f6c450a16bb1c514e22f1977e390a3025599aa1e7b00068a6aacf2119484c1bd"),
            Known(
                kind: .tonRotation, phrase: about,
                identity: "7952e94118f34607c75e23258dd9220d66ccac5a3ee074125c25068e8107bfbf",
                scheme: .ed25519, path: "m/44'/607'/0'",
                publicKey: "7952e94118f34607c75e23258dd9220d66ccac5a3ee074125c25068e8107bfbf"),
            Known(
                kind: .tonRotation, phrase: "\(about) \(yellow)",
                identity: "434908c4c092113fcced4eec061b09c02b7b8934a9ca555e2032505aab7558ea",
                scheme: .ed25519, path: "m/44'/607'/0'",
                publicKey: "434908c4c092113fcced4eec061b09c02b7b8934a9ca555e2032505aab7558ea"),
        ]

        @Test(arguments: wallets)
        func aWalletComesInSignsIsShownAndGoes(_ wanted: Known) throws {
            let home = try TestHome(
                starting: [.attemptLimiter, .credentialAuthority, .walletVault])
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            let expected = try known(Hex.decode(wanted.identity))
            let wallet = try client.call(
                ImportWallet(
                    namespace: main, label: "known", walletKind: wanted.kind,
                    network: wanted.network, expected: expected),
                token: token, secrets: [secret(wanted.phrase)]
            ).reply
            #expect(wallet.identity == expected)
            #expect(wallet.network == wanted.network)

            // What is remembered of it is gone after this.
            try home.restart(.walletVault)
            let check = CheckWallet(namespace: main, wallet: wallet.wallet)
            #expect(try client.call(check, token: token).reply == wallet)
            let digest = SHA256.digest(Array("message".utf8))
            let proof = try known(
                client.unlock("1234", scope: .sign(main, wallet.wallet)))
            let signed = try client.call(
                SignWithWallet(
                    namespace: main, wallet: wallet.wallet, scheme: wanted.scheme,
                    path: wanted.path),
                token: proof, secrets: [SharedSecret(SecretBytes(copying: digest))]
            ).reply
            #expect(Hex.encode(signed.publicKey) == wanted.publicKey)
            switch wanted.scheme {
            case .ed25519:
                #expect(Ed25519.verify(signed.signature, digest, publicKey: signed.publicKey))
            case .secp256k1:
                #expect(
                    Secp256k1.verify(
                        signed.signature, digest: digest, publicKey: signed.publicKey))
            }

            let reveal = try known(
                client.unlock("1234", scope: .reveal(main, wallet.wallet)))
            let shown = try client.call(
                RevealWallet(namespace: main, wallet: wallet.wallet), token: reveal)
            #expect(
                shown.attachments.first?.bytes.withBytes { Array($0) }
                    == Array(wanted.phrase.utf8))
            let settings = try known(client.unlock("1234", scope: .settings))
            _ = try client.call(
                RemoveWallet(namespace: main, wallet: wallet.wallet), token: settings)
            #expect(
                try client.call(ListWallets(namespace: main), token: token).reply
                    == ListWallets.Reply(wallets: [], more: false))
        }

        /// Backup shares and migration come with the session of whoever asked them.
        @Test func aServiceActsForTheHolderWhoNamesIt() throws {
            let home = try TestHome(
                starting: [.attemptLimiter, .credentialAuthority, .walletVault])
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let shares = try home.client(as: .backupShares)
            let migration = try home.client(as: .migration)
            let session = try known(
                client.unlock(
                    "1234", scope: .resource(main), audience: [.walletVault, .backupShares]))
            let bring = ImportWallet(
                namespace: main, label: "", walletKind: .tonRotation, expected: nil)
            let words = [secret(Self.about)]
            #expect(
                refusal { try migration.call(bring, token: session, secrets: words) }
                    == "session.invalid")
            let wallet = try shares.call(bring, token: session, secrets: words).reply
            let check = CheckWallet(namespace: main, wallet: wallet.wallet)
            #expect(try shares.call(check, token: session).reply == wallet)
            #expect(refusal { try migration.call(check, token: session) } == "session.invalid")

            let reveal = RevealWallet(namespace: main, wallet: wallet.wallet)
            let alone = try known(
                client.unlock("1234", scope: .reveal(main, wallet.wallet)))
            #expect(refusal { try shares.call(reveal, token: alone) } == "session.invalid")
            let proof = try known(
                client.unlock(
                    "1234", scope: .reveal(main, wallet.wallet),
                    audience: [.walletVault, .backupShares]))
            let shown = try shares.call(reveal, token: proof)
            #expect(
                shown.attachments.first?.bytes.withBytes { Array($0) } == Array(Self.about.utf8))
            #expect(refusal { try shares.call(reveal, token: proof) } == "session.ended")
            #expect(refusal { try migration.call(reveal, token: proof) } == "bus.forbidden")

            let theirs = try known(
                client.unlock(
                    "1234", scope: .resource(main), audience: [.walletVault, .migration]))
            let dash = ImportWallet(
                namespace: main, label: "", walletKind: .dash, network: .mainnet, expected: nil)
            #expect(
                refusal { try shares.call(dash, token: theirs, secrets: words) }
                    == "session.invalid")
            let migrated = try migration.call(dash, token: theirs, secrets: words).reply
            #expect(
                try client.call(ListWallets(namespace: main), token: client.resourceToken("1234"))
                    .reply.wallets.map(\.wallet) == [wallet.wallet, migrated.wallet])
        }
    }
}
