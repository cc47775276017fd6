import AuthorityDouble
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

/// A wallet is found by its identity.
@Suite struct FindRules {
    @Test(arguments: KnownWallet.all)
    func aWalletIsFoundByItsIdentityInItsNamespace(_ known: KnownWallet) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let identity = try #require(Hex.decode(known.identity))
            func finding(in namespace: Namespace) -> FindWallet {
                FindWallet(
                    namespace: namespace, walletKind: known.kind, network: known.network,
                    identity: identity)
            }
            let token = try rig.token(.resource(rig.main))
            #expect(
                try await rig.refusal(finding(in: rig.main), token: token)
                    == "vault.no_such_wallet")
            _ = try await rig.create()
            let wallet = try await rig.bring(known)
            #expect(try await rig.ask(finding(in: rig.main), token: token).reply == wallet)
            #expect(
                try await rig.refusal(
                    finding(in: rig.spare), token: rig.token(.resource(rig.spare)))
                    == "vault.no_such_wallet")
            #expect(
                try await rig.refusal(
                    finding(in: rig.main), owner: rig.other,
                    token: rig.token(.resource(rig.main), owner: rig.other))
                    == "vault.no_such_wallet")
        }
    }

    @Test func anIdentityOfAnotherKindIsNoneAndADamagedRowIsTold() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let known = KnownWallet.dashMain
            _ = try await rig.bring(known)
            let identity = try #require(Hex.decode(known.identity))
            let token = try rig.token(.resource(rig.main))
            let asTest = FindWallet(
                namespace: rig.main, walletKind: .dash, network: .testnet, identity: identity)
            #expect(try await rig.refusal(asTest, token: token) == "vault.no_such_wallet")
            try rig.tamper { try $0.run("UPDATE wallets SET words = 1 << 40") }
            let asMain = FindWallet(
                namespace: rig.main, walletKind: .dash, network: .mainnet, identity: identity)
            #expect(try await rig.refusal(asMain, token: token) == "storage.damaged")
        }
    }

    @Test func findingTakesAResourceSession() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let request = FindWallet(
                namespace: rig.main, walletKind: .ton, identity: [UInt8](repeating: 1, count: 32))
            #expect(
                try await rig.refusal(request, token: rig.token(.settings))
                    == "lease.not_authorised")
            #expect(
                try await rig.refusal(request, token: rig.token(.resource(rig.spare)))
                    == "lease.not_authorised")
        }
    }
}
