import AuthorityDouble
import Crypto
import HDKeys
import Loop
import Secrets
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

/// What is the same for wallets of all kinds, and what is not.
@Suite struct KindRules {
    @Test(arguments: KnownWallet.all)
    func aWalletComesInAndGoesOutWithItsIdentity(_ known: KnownWallet) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(known)
            #expect(wallet.kind == known.kind)
            #expect(wallet.network == known.network)
            #expect(Hex.encode(wallet.identity) == known.identity)
            #expect(wallet.identity.count == known.kind.identityBytes)
            #expect(wallet.words == known.words)
            #expect(wallet.verified)
            #expect(try await rig.list() == [wallet])
            try rig.service.rebuild()
            let check = CheckWallet(namespace: rig.main, wallet: wallet.wallet)
            let token = try rig.token(.resource(rig.main))
            #expect(try await rig.ask(check, token: token).reply == wallet)
            #expect(try await rig.reveal(wallet.wallet) == known.phrase)
            try await rig.ask(
                RemoveWallet(namespace: rig.main, wallet: wallet.wallet),
                token: rig.token(.settings))
            #expect(try await rig.list().isEmpty)
        }
    }

    @Test(arguments: KnownWallet.all)
    func theExpectedIdentityIsThatOfTheKind(_ known: KnownWallet) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            for other in KnownWallet.all where other.identity != known.identity {
                await #expect(throws: VaultFault.unexpectedIdentity.refusal) {
                    _ = try await rig.bring(known, expected: Hex.decode(other.identity))
                }
            }
            #expect(try rig.service.store.walletCount() == 0)
            let identity = try #require(Hex.decode(known.identity))
            #expect(try await rig.bring(known, expected: identity).identity == identity)
        }
    }

    /// A phrase of 24 words that is one of BIP-39 and no TON mnemonic.
    private static let long = String(repeating: "abandon ", count: 23) + "art"

    @Test(arguments: [
        (WalletKind.ton, publishedPhrase), (.ton, long), (.ton, "about"),
        (.ton, KnownWallet.ton.phrase.replacing("hospital", with: "zzz")),
        (.tonRotation, long), (.tonRotation, KnownWallet.ton.phrase),
        (.tonRotation, "\(publishedPhrase) about"),
        (.tonRotation, "\(publishedPhrase) \(publishedPhrase.dropLast(5))abandon"),
        (.dash, KnownWallet.ton.phrase), (.dash, KnownWallet.rotated.phrase),
        (.bip39, KnownWallet.ton.phrase), (.bip39, KnownWallet.rotated.phrase),
    ])
    func aPhraseOfAnotherKindIsRefused(_ kind: WalletKind, _ phrase: String) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let known = KnownWallet(
                kind: kind, network: kind.hasNetwork ? .mainnet : nil, phrase: phrase, words: 0,
                identity: "")
            await #expect(throws: VaultFault.invalidPhrase.refusal) {
                _ = try await rig.bring(known)
            }
            #expect(rig.authority.asked["authority.derive"] == nil)
        }
    }

    @Test(arguments: KnownWallet.all)
    func aPhraseIsTakenAsPeopleTypeIt(_ known: KnownWallet) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let typed = KnownWallet(
                kind: known.kind, network: known.network,
                phrase: "  \(known.phrase.uppercased().replacing(" ", with: "\u{3000}\t"))\n",
                words: known.words, identity: known.identity)
            let wallet = try await rig.bring(typed)
            #expect(Hex.encode(wallet.identity) == known.identity)
            #expect(try await rig.reveal(wallet.wallet) == known.phrase)
        }
    }

    @Test func onePhraseIsAWalletOfEachKindAndNetwork() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let together: [KnownWallet] = [.bip39, .dashMain, .dashTest, .tonRotation]
            for known in together { _ = try await rig.bring(known) }
            for known in together {
                await #expect(throws: VaultFault.walletExists.refusal) {
                    _ = try await rig.bring(known)
                }
            }
            #expect(
                try await rig.list().map(\.identity)
                    == together.map { Hex.decode($0.identity) })
        }
    }

    /// A network that is missing, or one that the kind does not have.
    @Test(
        arguments: [
            (.dash, nil), (.bip39, .mainnet), (.ton, .testnet), (.tonRotation, .mainnet),
        ] as [(WalletKind, WalletNetwork?)])
    func aKindHasANetworkOrNone(_ kind: WalletKind, _ network: WalletNetwork?) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            #expect(
                try await rig.refusal(
                    ImportWallet(
                        namespace: rig.main, label: "", walletKind: kind, network: network,
                        expected: nil),
                    token: rig.token(.resource(rig.main)),
                    attachments: [Rig.secret(publishedPhrase)]) == "bus.malformed")
        }
    }

    // MARK: Envelopes

    /// What lies in the second envelope, opened beside the vault.
    @Test(arguments: [
        (
            KnownWallet.tonRotation,
            "b477ef5ed17fb8a2b8faddd7a9835a227243a82c70b190c7af4896155aa7df9f", false
        ),
        (.ton, "9d659a6c2234db7f6e4f977e6e8653b9f5946d557163f31034011375d8f3f97d", true),
    ])
    func theSeedOfATONWalletIsTheKeysOwn(
        _ known: KnownWallet, _ seed: String, _ isMarked: Bool
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(known).wallet
            let content = try Self.content(of: .seed, wallet, rig)
            let key = Array(content.prefix(32))
            #expect(Hex.encode(key) == seed)
            let mark = HMAC.sha256(
                key: SecretBytes(copying: key),
                message: Array("coffer.wallet.phrase.v1\(known.phrase)".utf8)
            ).withBytes { Array($0) }
            #expect(content == (isMarked ? key + mark : key))
            let phrase = try Self.content(of: .phrase, wallet, rig)
            #expect(phrase == Array(known.phrase.utf8))
        }
    }

    @Test func theSeedOfADashWalletIsThatOfBIP39() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let contents = [
                try Self.content(of: .seed, try await rig.bring(.bip39).wallet, rig),
                try Self.content(of: .seed, try await rig.bring(.dashMain).wallet, rig),
                try Self.content(of: .seed, try await rig.bring(.dashTest).wallet, rig),
            ]
            #expect(Set(contents).count == 1)
            #expect(
                Hex.encode(contents[0])
                    == "5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1"
                    + "9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4")
        }
    }

    @ServiceLoop
    private static func content(
        of slot: EnvelopeSlot, _ wallet: WalletID, _ rig: Rig
    ) throws -> [UInt8] {
        let document = try rig.database.firstRow(
            "SELECT document FROM envelopes WHERE ref = ?1", .text(slot.reference(of: wallet))
        ) { row throws(StorageError) in try row.blob(0) }
        let keys = try Rig.keys(of: rig.owner, rig.main)
        return try EnvelopeV1(decoding: try #require(document))
            .open(namespace: rig.main, wrappingKey: keys.envelopes.bytes).withBytes { Array($0) }
    }

    // MARK: Signatures

    @Test(arguments: [KnownWallet.ton, .tonRotation, .rotated])
    func aTONWalletSignsWithItsOneKey(_ known: KnownWallet) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(known).wallet
            let key = try #require(known.kind.soleKey)
            let message = Array("to be signed".utf8)
            let reply = try await rig.ask(
                SignWithWallet(
                    namespace: rig.main, wallet: wallet, scheme: key.scheme, path: key.path),
                token: rig.token(.sign(rig.main, wallet)), attachments: [Rig.secret(message)]
            ).reply
            #expect(Hex.encode(reply.publicKey) == known.identity)
            #expect(reply.recovery == nil)
            #expect(Ed25519.verify(reply.signature, message, publicKey: reply.publicKey))
        }
    }

    @Test(arguments: [
        (KnownWallet.ton, SignatureScheme.secp256k1, "m"), (.ton, .ed25519, "m/44'/607'/0'"),
        (.ton, .ed25519, "m/0'"), (.tonRotation, .ed25519, "m"),
        (.tonRotation, .ed25519, "m/44'/607'/1'"), (.tonRotation, .ed25519, "m/44'/607'"),
        (.tonRotation, .secp256k1, "m/44'/607'/0'"), (.ton, .ed25519, ""),
    ])
    func anyOtherKeyOfATONWalletCostsNoProof(
        _ known: KnownWallet, _ scheme: SignatureScheme, _ path: String
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(known).wallet
            let proof = try rig.token(.sign(rig.main, wallet))
            let digest = Rig.secret([UInt8](repeating: 1, count: 32))
            #expect(
                try await rig.refusal(
                    SignWithWallet(
                        namespace: rig.main, wallet: wallet, scheme: scheme, path: path),
                    token: proof, attachments: [digest]) == "vault.invalid_path")
            let key = try #require(known.kind.soleKey)
            #expect(
                try await rig.refusal(
                    SignWithWallet(
                        namespace: rig.main, wallet: wallet, scheme: key.scheme,
                        path: key.path.replacing("'", with: "h")),
                    token: proof, attachments: [digest]) == "ok")
        }
    }

    /// The first address of the published phrase in a Dash wallet is of this key.
    @Test func aDashWalletSignsAtAnyPath() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring(.dashMain).wallet
            let digest = SHA256.digest(Array("to be signed".utf8))
            let reply = try await rig.ask(
                SignWithWallet(
                    namespace: rig.main, wallet: wallet, scheme: .secp256k1,
                    path: "m/44'/5'/0'/0/0"),
                token: rig.token(.sign(rig.main, wallet)), attachments: [Rig.secret(digest)]
            ).reply
            #expect(Secp256k1.verify(reply.signature, digest: digest, publicKey: reply.publicKey))
            #expect(
                PayToKeyHash.address(ofPublicKey: reply.publicKey, on: .dash)
                    == "XoJA8qE3N2Y3jMLEtZ3vcN42qseZ8LvFf5")
        }
    }
}
