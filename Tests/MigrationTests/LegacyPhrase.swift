import HDKeys
import Mnemonics
import Secrets
import TestKit
import VaultMessages

/// A phrase of a test, and what follows from it.
struct LegacyPhrase {
    let text: String

    init(_ bytes: borrowing SecretBytes) {
        text = bytes.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// A new one of twelve words.
    init(_ random: SeededRandom) throws {
        self.init(try Mnemonic.generate(words: 12, random: random))
    }

    private func seed() throws -> SecretBytes {
        let phrase = try Mnemonic.normalize(SecretBytes(copying: Array(text.utf8)))
        return try Mnemonic.seed(of: phrase, passphrase: SecretBytes(count: 0))
    }

    /// The id that the legacy app keeps it under.
    func legacyID(_ network: WalletNetwork = .mainnet) throws -> String {
        try DashWalletID.dashSync(seed: seed(), network: network == .mainnet ? .mainnet : .testnet)
    }

    func sdkID(_ network: WalletNetwork = .mainnet) throws -> [UInt8] {
        try DashWalletID.sdk(seed: seed(), network: network == .mainnet ? .mainnet : .testnet)
    }
}
