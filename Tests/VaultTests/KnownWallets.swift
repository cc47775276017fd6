import Secrets
import Testing
import VaultMessages

@testable import VaultCore

/// A phrase that everybody knows.
let publishedPhrase =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
/// Another one.
let secondPublishedPhrase =
    "legal winner thank year wave sausage worth useful legal winner thank yellow"

/// A wallet whose phrase and identity everybody knows.
struct KnownWallet: Sendable, CustomTestStringConvertible {
    let kind: WalletKind
    var network: WalletNetwork?
    let phrase: String
    let words: Int
    /// In hex.
    let identity: String

    var testDescription: String { "\(kind.text) \(network?.text ?? "")" }

    static let bip39 = KnownWallet(
        kind: .bip39, phrase: publishedPhrase, words: 12,
        identity: "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494")
    static let dashMain = KnownWallet(
        kind: .dash, network: .mainnet, phrase: publishedPhrase, words: 12,
        identity: "0b91f36de2613a410303e8309b4f92a150738ae018695d2030b33e64ccea7b2e")
    static let dashTest = KnownWallet(
        kind: .dash, network: .testnet, phrase: publishedPhrase, words: 12,
        identity: "0c9776ef403f2da80ef4cb3884a96d591805934effc0e014eadd2bb98a94ea6c")
    static let ton = KnownWallet(
        kind: .ton,
        phrase: """
            hospital stove relief fringe tongue always charge angry urge sentence again match \
            nerve inquiry senior coconut label tumble carry category beauty bean road solution
            """, words: 24,
        identity: "f6c450a16bb1c514e22f1977e390a3025599aa1e7b00068a6aacf2119484c1bd")
    static let secondTON = KnownWallet(
        kind: .ton,
        phrase: """
            dose ice enrich trigger test dove century still betray gas diet dune use other base \
            gym mad law immense village world example praise game
            """, words: 24,
        identity: "c04ad1885c127fe863abb00752fa844e6439bb04f264d70de7cea580b32637ab")
    /// One that was never rotated.
    static let tonRotation = KnownWallet(
        kind: .tonRotation, phrase: publishedPhrase, words: 12,
        identity: "7952e94118f34607c75e23258dd9220d66ccac5a3ee074125c25068e8107bfbf")
    /// One whose last 12 words were replaced.
    static let rotated = KnownWallet(
        kind: .tonRotation, phrase: "\(publishedPhrase) \(secondPublishedPhrase)", words: 24,
        identity: "434908c4c092113fcced4eec061b09c02b7b8934a9ca555e2032505aab7558ea")

    static let all = [bip39, dashMain, dashTest, ton, tonRotation, rotated]
}

/// The identity that a valid phrase stands for.
func identity(of phrase: String, _ family: WalletFamily = .bip39) throws -> [UInt8] {
    let seed = try family.seed(of: SecretBytes(copying: Array(phrase.utf8)))
    return try family.identity(ofSeed: seed)
}
