import HDKeys
import Loop
import MigrationMessages
import TestKit
import VaultMessages

/// The legacy keychain of an owner, and what must become of its wallets.
@ServiceLoop
final class LegacyHoard {
    let path: SourcePath
    /// The networks whose wallets were told to be all taken in.
    var finished: Set<WalletNetwork> = []
    private let folder: TemporaryFolder
    private let made: Made

    /// What is in a keychain; the same for many runs, because phrases take long to make.
    private struct Made {
        let bytes: [UInt8]
        /// Wallets that can be taken in: SDK ids by the ids of the legacy app.
        let sound: [WalletNetwork: [String: [UInt8]]]
        /// Wallets that a list names and that cannot be taken in.
        let unsound: Set<String>
    }

    private static let variants = 16
    private static var all: [Int: Made] = [:]

    /// Writes the keychain to a file, which goes with it.
    init(_ choices: SeededRandom) throws {
        let variant = choices.number(in: 1...Self.variants)
        let made = try Self.all[variant] ?? Self.make(variant)
        Self.all[variant] = made
        self.made = made
        folder = try TemporaryFolder(inMemory: true)
        let file = folder.path(of: "keychain")
        guard let path = SourcePath(file) else {
            preconditionFailure("a temporary folder has an absolute path")
        }
        TestFile.write(made.bytes, to: file)
        self.path = path
    }

    /// SDK ids of the wallets that a network's runs take in, by their ids in the legacy app.
    func sound(_ network: WalletNetwork) -> [String: [UInt8]] { made.sound[network] ?? [:] }

    /// Whether a wallet is one that no run can take in.
    func isUnsound(_ id: String) -> Bool { made.unsound.contains(id) }

    /// Whether anything of it can never be settled.
    var hasUnsound: Bool { !made.unsound.isEmpty }

    /// Whether the file is what it was.
    var isUntouched: Bool { TestFile.contents(of: path.text) == made.bytes }

    private static func make(_ variant: Int) throws -> Made {
        let random = SeededRandom(seed: 0x1E6A_C300 + UInt64(variant))
        var keychain = TestKeychain()
        try keychain.addListed(random.number(in: 1...4), on: .mainnet, random)
        try keychain.addListed(random.number(in: 0...2), on: .testnet, random)
        var unsound: Set<String> = []
        if variant % 2 == 0 {
            // A phrase with a wrong word, and one of another wallet.
            let other = try LegacyPhrase(random)
            let ids = [
                try LegacyPhrase(random).ids().legacy, try LegacyPhrase(random).ids().legacy,
            ]
            keychain.add(wallet: ids[0], other.text + " nonsense")
            keychain.add(wallet: ids[1], other.text)
            keychain.list(ids, on: "b67a40f")
            unsound.formUnion(ids)
        }
        if variant % 3 == 0 {
            // Reset in the app: no list names it.
            let phrase = try LegacyPhrase(random)
            keychain.add(wallet: try phrase.ids().legacy, phrase.text)
        }
        var sound: [WalletNetwork: [String: [UInt8]]] = [:]
        for wallet in keychain.wallets {
            let network: WalletNetwork = wallet.network == .mainnet ? .mainnet : .testnet
            sound[network, default: [:]][wallet.id] = wallet.sdkID
        }
        let format = TestKeychain.Format.allCases[variant % TestKeychain.Format.allCases.count]
        return Made(bytes: keychain.bytes(format), sound: sound, unsound: unsound)
    }
}
