import Crypto
import Mnemonics
import Secrets
import Testing
import VaultMessages
import Wire

@testable import VaultCore

@Suite struct IdentityRules {
    private let keys = NamespaceKeys(
        envelopes: SharedSecret(SecretBytes(copying: [UInt8](repeating: 1, count: 32))),
        identities: SharedSecret(SecretBytes(copying: [UInt8](repeating: 2, count: 32))))
    private let seed: SharedSecret
    private let record: WalletRecord

    init() throws {
        let phrase = SharedSecret(SecretBytes(copying: Array(publishedPhrase.utf8)))
        seed = try phrase.stretched().get()
        var record = WalletRecord(
            owner: try #require(Owner("local")), namespace: try #require(Namespace("main")),
            wallet: try #require(WalletID("11111111-2222-4333-8444-555555555555")), kind: .bip39,
            label: "savings", words: 12, identity: try NamespaceKeys.identity(ofSeed: seed.bytes),
            mac: [])
        record.mac = keys.mac(of: record)
        self.record = record
    }

    /// The master key that BIP-39 tools show for this phrase without a passphrase.
    @Test func theIdentityIsTheMasterPublicKey() {
        #expect(record.identity.count == 33)
        #expect(
            Hex.encode(record.identity)
                == "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494")
    }

    @Test func theRightRowIsConfirmed() throws {
        try keys.confirm(record, bySeed: seed.bytes)
    }

    @Test func whateverIsChangedBesideAnEnvelopeIsNoticed() throws {
        let changes: [(String, (inout WalletRecord) throws -> Void)] = [
            ("owner", { $0.owner = try #require(Owner("second")) }),
            ("namespace", { $0.namespace = try #require(Namespace("spare")) }),
            (
                "wallet",
                { $0.wallet = try #require(WalletID("11111111-2222-4333-8444-555555555556")) }
            ),
            ("label", { $0.label = "Savings" }),
            ("empty label", { $0.label = "" }),
            ("words", { $0.words = 24 }),
            ("identity", { $0.identity[32] ^= 1 }),
            ("MAC", { $0.mac[0] ^= 1 }),
            ("short MAC", { $0.mac.removeLast() }),
            ("no MAC", { $0.mac = [] }),
        ]
        for (name, change) in changes {
            var changed = record
            try change(&changed)
            #expect(throws: VaultFault.identityMismatch, "\(name)") {
                try keys.confirm(changed, bySeed: seed.bytes)
            }
        }
    }

    @Test func aMACOfOurOwnDoesNotHideAnotherSeed() throws {
        let other = SecretBytes(copying: [UInt8](repeating: 9, count: 64))
        #expect(throws: VaultFault.identityMismatch) {
            try keys.confirm(record, bySeed: other)
        }
        var forged = record
        forged.identity = try NamespaceKeys.identity(ofSeed: other)
        #expect(throws: VaultFault.identityMismatch) { try keys.confirm(forged, bySeed: other) }
        forged.mac = keys.mac(of: forged)
        try keys.confirm(forged, bySeed: other)
    }

    @Test func fieldsCannotBePushedIntoEachOther() {
        var left = record
        var right = record
        left.label = "savings1"
        right.label = "savings"
        right.owner = Owner("1local") ?? right.owner
        #expect(keys.mac(of: left) != keys.mac(of: right))
    }
}
