import Crypto
import HDKeys
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
        seed = SharedSecret(try WalletFamily.bip39.seed(of: phrase.bytes))
        var record = WalletRecord(
            owner: try #require(Owner("local")), namespace: try #require(Namespace("main")),
            wallet: try #require(WalletID("11111111-2222-4333-8444-555555555555")),
            family: .bip39, label: "savings", words: 12,
            identity: try WalletFamily.bip39.identity(ofSeed: seed.bytes),
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

    /// The identity of a wallet of a network follows from it, so the MAC is looked at alone.
    @Test func theNetworkIsUnderTheMAC() {
        var main = record
        main.family = .dash(.mainnet)
        var test = record
        test.family = .dash(.testnet)
        #expect(Set([record, main, test].map(keys.mac)).count == 3)
    }

    /// Computed beside the vault, over what a row held before there were networks.
    @Test func aRowWithoutANetworkKeepsItsMAC() {
        func part(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }
        func text(_ text: String) -> [UInt8] { part(Array(text.utf8)) }
        let message =
            text("coffer.wallet.identity.v1") + text("savings") + text("local") + text("main")
            + text("11111111-2222-4333-8444-555555555555") + text("bip39")
            + part(record.identity) + part([0, 0, 0, 12])
        let mac = HMAC.sha256(key: keys.identities.bytes, message: message).withBytes { Array($0) }
        #expect(record.mac == mac)
    }

    @Test func aMACOfOurOwnDoesNotHideAnotherSeed() throws {
        let other = SecretBytes(copying: [UInt8](repeating: 9, count: 64))
        #expect(throws: VaultFault.identityMismatch) {
            try keys.confirm(record, bySeed: other)
        }
        var forged = record
        forged.identity = try WalletFamily.bip39.identity(ofSeed: other)
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
