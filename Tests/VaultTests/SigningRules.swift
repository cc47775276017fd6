import AuthorityDouble
import AuthorityMessages
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

@Suite struct SigningRules {
    /// Keys that other wallets show for the published phrase.
    @Test(arguments: [
        (
            SignatureScheme.secp256k1, "m/44'/0'/0'/0/0",
            "03aaeb52dd7494c361049de67cc680e83ebcbbbdbeb13637d92cd845f70308af5e"
        ),
        (
            .secp256k1, "m/84h/0h/0h/0/0",
            "0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c"
        ),
        (.secp256k1, "m", "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494"),
        (
            .ed25519, "m/44'/607'/0'",
            "7952e94118f34607c75e23258dd9220d66ccac5a3ee074125c25068e8107bfbf"
        ),
    ])
    func publishedPhrasesGivePublishedKeys(
        _ scheme: SignatureScheme, _ path: String, _ publicKey: String
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.importPhrase(publishedPhrase).wallet
            let digest = SHA256.digest(Array("to be signed".utf8))
            let reply = try await rig.ask(
                SignWithWallet(namespace: rig.main, wallet: wallet, scheme: scheme, path: path),
                token: rig.token(.sign(rig.main, wallet)), attachments: [Rig.secret(digest)]
            ).reply
            #expect(Hex.encode(reply.publicKey) == publicKey)
            switch scheme {
            case .ed25519:
                #expect(Ed25519.verify(reply.signature, digest, publicKey: reply.publicKey))
                #expect(reply.recovery == nil)
            case .secp256k1:
                #expect(
                    Secp256k1.verify(reply.signature, digest: digest, publicKey: reply.publicKey))
                let signature = Secp256k1.Signature(
                    compact: reply.signature,
                    recoveryID: UInt8(try #require(reply.recovery)))
                #expect(try Secp256k1.recover(signature, digest: digest) == reply.publicKey)
            }
        }
    }

    @Test(arguments: [0, 1, 33, 32_768]) func ed25519SignsMessagesOfAnyLength(
        _ count: Int
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let message = [UInt8](repeating: 0x5A, count: count)
            let reply = try await rig.ask(
                SignWithWallet(namespace: rig.main, wallet: wallet, scheme: .ed25519, path: "m/0'"),
                token: rig.token(.sign(rig.main, wallet)), attachments: [Rig.secret(message)]
            ).reply
            #expect(Ed25519.verify(reply.signature, message, publicKey: reply.publicKey))
        }
    }

    /// Scheme, path, bytes to sign, and what is answered.
    @Test(arguments: [
        (SignatureScheme.ed25519, "m/44'/0", 4, "vault.invalid_path"),
        (.ed25519, "44'", 4, "vault.invalid_path"),
        (.ed25519, "m/0'/0'/0'/0'/0'/0'/0'/0'/0'/0'/0'", 4, "vault.invalid_path"),
        (.secp256k1, "m/2147483648", 32, "vault.invalid_path"),
        (.secp256k1, "", 32, "vault.invalid_path"),
        (.secp256k1, "m/0", 31, "vault.invalid_message"),
        (.secp256k1, "m/0", 33, "vault.invalid_message"),
        (.secp256k1, "m/0", 0, "vault.invalid_message"),
        (.ed25519, "m/0'", 32_769, "vault.invalid_message"),
    ])
    func whatCannotBeSignedCostsNoProof(
        _ scheme: SignatureScheme, _ path: String, _ count: Int, _ code: String
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let proof = try rig.token(.sign(rig.main, wallet))
            let asked = rig.authority.asked["authority.derive"]
            #expect(
                try await rig.refusal(
                    SignWithWallet(
                        namespace: rig.main, wallet: wallet, scheme: scheme, path: path),
                    token: proof, attachments: [Rig.secret([UInt8](repeating: 1, count: count))])
                    == code)
            #expect(rig.authority.asked["authority.derive"] == asked)
            // The proof is still good.
            #expect(
                try await rig.refusal(
                    SignWithWallet(
                        namespace: rig.main, wallet: wallet, scheme: .ed25519, path: "m/0'"),
                    token: proof, attachments: [Rig.secret([1])]) == "ok")
        }
    }

    @Test func aProofSignsOnceAndOnlyForItsWallet() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let other = try await rig.create(label: "other").wallet
            @ServiceLoop func sign(_ wallet: WalletID, _ token: [UInt8]) async throws -> String {
                try await rig.refusal(
                    SignWithWallet(
                        namespace: rig.main, wallet: wallet, scheme: .ed25519, path: "m/0'"),
                    token: token, attachments: [Rig.secret([1, 2, 3])])
            }
            let proof = try rig.token(.sign(rig.main, wallet))
            #expect(try await sign(other, proof) == "lease.not_authorised")
            #expect(try await sign(wallet, proof) == "ok")
            #expect(try await sign(wallet, proof) == "session.ended")
            #expect(
                try await sign(wallet, rig.token(.reveal(rig.main, wallet)))
                    == "lease.not_authorised")
        }
    }

    @Test func aResourceSessionSignsWhereThePolicyLetsIt() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let token = try rig.token(.resource(rig.main))
            let request = SignWithWallet(
                namespace: rig.main, wallet: wallet, scheme: .ed25519, path: "m/0'")
            @ServiceLoop func sign() async throws -> String {
                try await rig.refusal(request, token: token, attachments: [Rig.secret([1])])
            }
            #expect(try await sign() == "lease.not_authorised")
            // A lease for opening is none for signing.
            _ = try await rig.ask(
                CheckWallet(namespace: rig.main, wallet: wallet), token: token)
            #expect(try await sign() == "lease.not_authorised")
            rig.authority.policy = .session
            #expect(try await sign() == "ok")
            #expect(try await sign() == "ok")
        }
    }

    @Test func anEngineSignsWithItsOwnSessionAndDoesNothingElse() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            rig.authority.policy = .session
            let wallet = try await rig.create().wallet
            let own = try rig.token(.resource(rig.main), holder: rig.engine)
            let request = SignWithWallet(
                namespace: rig.main, wallet: wallet, scheme: .secp256k1, path: "m/0")
            let digest = Rig.secret([UInt8](repeating: 9, count: 32))
            #expect(
                try await rig.refusal(
                    request, from: rig.engine, token: own, attachments: [digest]) == "ok")
            let apps = try rig.token(.resource(rig.main))
            #expect(
                try await rig.refusal(
                    request, from: rig.engine, token: apps, attachments: [digest])
                    == "session.invalid")
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.main, wallet: wallet), from: rig.engine, token: own)
                    == "bus.forbidden")
        }
    }

    @Test func aSeedThatIsNotThisWalletsSignsNothing() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let first = try await rig.create(label: "first").wallet
            let second = try await rig.create(label: "second").wallet
            try rig.tamper { database in
                try database.run(
                    """
                    UPDATE envelopes SET document =
                    (SELECT document FROM envelopes WHERE ref = ?2) WHERE ref = ?1
                    """, .text(EnvelopeSlot.seed.reference(of: first)),
                    .text(EnvelopeSlot.seed.reference(of: second)))
            }
            #expect(
                try await rig.refusal(
                    SignWithWallet(
                        namespace: rig.main, wallet: first, scheme: .ed25519, path: "m/0'"),
                    token: rig.token(.sign(rig.main, first)), attachments: [Rig.secret([1])])
                    == "vault.identity_mismatch")
        }
    }
}
