public import HDKeys
internal import Mnemonics
public import Secrets

/// A phrase of a test, in the clear, and what follows from it.
public struct LegacyPhrase: Sendable {
    public let text: String

    public init(_ text: String) { self.text = text }

    public init(_ bytes: borrowing SecretBytes) {
        text = bytes.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// A new one of twelve words.
    public init(_ random: SeededRandom) throws {
        self.init(try Mnemonic.generate(words: 12, random: random))
    }

    /// The id that the legacy app keeps it under on a network, and the 32-byte SDK id there.
    public func ids(_ network: DashNetwork = .mainnet) throws -> (legacy: String, sdk: [UInt8]) {
        let phrase = try Mnemonic.normalize(SecretBytes(copying: Array(text.utf8)))
        let seed = try Mnemonic.seed(of: phrase, passphrase: SecretBytes(count: 0))
        return (
            try DashWalletID.dashSync(seed: seed, network: network),
            try DashWalletID.sdk(seed: seed, network: network)
        )
    }
}
