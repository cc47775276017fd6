import MigrationMessages
import TestKit
import Testing
import Tokens
import Wire

@testable import MigrationCore

@Suite struct SetAsideRules {
    /// A wallet that comes in, and one that nobody will ever know of.
    private static func keychain() throws -> TestKeychain {
        var keychain = TestKeychain()
        try keychain.addListed(1, SeededRandom(seed: 41))
        keychain.add("WALLET_MNEMONIC_KEY_aa", [1])
        keychain.add("CHAIN_WALLETS_KEY_2cbcf83", Array("damage".utf8))
        return keychain
    }

    @Test func aSourceThatWasSetAsideHoldsNobodyUp() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            _ = try await rig.apply()
            let plan = try await rig.plan()
            #expect(plan.launch == .unreadable)
            let token = try rig.token(.settings, audience: [.migration])
            try await rig.ask(
                SetSourceAside(source: rig.path, digest: plan.digest), token: token)
            #expect(try await rig.launch() == .absent)
            #expect(try await rig.plan().launch == .absent)
            #expect(try await rig.launch(owner: rig.other) == .pending)
            let source = try #require(try await rig.status().sources.first)
            #expect(source.setAside && !source.done && source.deferredFailure)
            // Another run takes it back.
            _ = try await rig.apply()
            #expect(try await rig.launch() == .unreadable)
        }
    }

    @Test func aSourceIsSetAsideAsItWasSeen() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            let digest = try await rig.plan().digest
            rig.lay(TestKeychain())
            let token = try rig.token(.settings, audience: [.migration])
            let request = SetSourceAside(source: rig.path, digest: digest)
            #expect(
                try await rig.refusal(request, token: token) == "migration.source_changed")
        }
    }

    @Test func onlyASettingsSessionOfPasscodeOriginSetsAside() async throws {
        let keychain = try Self.keychain()
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(keychain)
            let request = SetSourceAside(source: rig.path, digest: try await rig.plan().digest)
            let refused: [([UInt8], String)] = [
                ([], "session.invalid"), (try rig.token(), "lease.not_authorised"),
                (
                    try rig.token(.settings, origin: .device, audience: [.migration]),
                    "lease.not_authorised"
                ),
                (try rig.token(.settings, audience: [.walletVault]), "session.invalid"),
            ]
            for (token, code) in refused {
                #expect(try await rig.refusal(request, token: token) == code)
            }
            #expect(try await rig.launch() == .pending)
        }
    }
}
