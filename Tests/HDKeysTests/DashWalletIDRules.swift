import HDKeys
import Secrets
import Testing

/// Computed from the rules by another implementation; nobody publishes vectors of these ids.
private struct KnownWallet: Sendable, CustomTestStringConvertible {
    let name: String
    /// The BIP-39 seed with an empty passphrase.
    let seed: String
    let dashSync: [DashNetwork: String]
    let sdk: [DashNetwork: String]

    var testDescription: String { name }

    static let all = [
        KnownWallet(
            name: "abandon … about",
            seed: """
                5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1\
                9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4
                """,
            dashSync: [.mainnet: "f78c9465937f02a9", .testnet: "3dff59656e16ad2a"],
            sdk: [
                .mainnet: "0b91f36de2613a410303e8309b4f92a150738ae018695d2030b33e64ccea7b2e",
                .testnet: "0c9776ef403f2da80ef4cb3884a96d591805934effc0e014eadd2bb98a94ea6c",
            ]),
        KnownWallet(
            name: "legal … yellow",
            seed: """
                878386efb78845b3355bd15ea4d39ef97d179cb712b77d5c12b6be415fffeffe\
                5f377ba02bf3f8544ab800b955e51fbff09828f682052a20faa6addbbddfb096
                """,
            dashSync: [.mainnet: "813a29924a4b73be", .testnet: "83ae072a2a0e4bf2"],
            sdk: [
                .mainnet: "5470af264c59723d4700b26b95ebafa51851efbd37454188a6e63fb340eb9567",
                .testnet: "d4b66551a0b790cd8ddda4746f0663f7800116f7295a1b9dea8297de65f30eae",
            ]),
    ]
}

@Suite struct DashWalletIDRules {
    @Test(arguments: KnownWallet.all)
    private func aWalletHasItsIdsOnEveryNetwork(_ wallet: KnownWallet) throws {
        for network in DashNetwork.allCases {
            let seed = secret(hex: wallet.seed)
            #expect(
                try DashWalletID.dashSync(seed: seed, network: network)
                    == wallet.dashSync[network])
            #expect(
                try hex(DashWalletID.sdk(seed: seed, network: network)) == wallet.sdk[network])
        }
    }

    /// DashSync's format has no width, so that about one id in sixteen is shorter.
    @Test func aDashSyncIdHasNoLeadingZeros() throws {
        var short = 0
        for number in UInt8.min...UInt8.max {
            let seed = SecretBytes(copying: [UInt8](repeating: number, count: 64))
            let id = try DashWalletID.dashSync(seed: seed, network: .mainnet)
            #expect((1...16).contains(id.count) && id.first != "0")
            #expect(id.allSatisfy { "0123456789abcdef".contains($0) })
            if id.count < 16 { short += 1 }
        }
        #expect(short > 0)
    }

    @Test(arguments: [0, 15, 65]) func aSeedHas16To64Bytes(_ count: Int) {
        #expect(throws: HDKeyError.invalidSeed) {
            _ = try DashWalletID.dashSync(seed: SecretBytes(count: count), network: .mainnet)
        }
        #expect(throws: HDKeyError.invalidSeed) {
            _ = try DashWalletID.sdk(seed: SecretBytes(count: count), network: .mainnet)
        }
    }

    /// The seven digits that DashSync's lists of wallets are named with.
    @Test func aChainIsNamedByItsGenesis() {
        #expect(hex(DashNetwork.mainnet.genesisHash).hasPrefix("b67a40f"))
        #expect(hex(DashNetwork.testnet.genesisHash).hasPrefix("2cbcf83"))
        #expect(DashNetwork.allCases.allSatisfy { $0.genesisHash.count == 32 })
    }
}
