import BackupShares
import Crypto
import Secrets
import TestKit

/// Phrases that nobody keeps anything under.
enum Phrases {
    static let about = String(repeating: "abandon ", count: 11) + "about"
    static let yellow =
        "legal winner thank year wave sausage worth useful legal winner thank yellow"
    /// 24 words of eight letters: the longest that fits.
    static let longest = Array(repeating: "mountain", count: 24).joined(separator: " ")
}

func block(of phrase: String) throws -> SecretBytes {
    try PhraseBlock.encode(secret(phrase))
}

/// A key pair of a holder or client.
struct KeyPair: Sendable {
    let privateKey: SharedSecret
    let publicKey: [UInt8]

    init(privateKey: [UInt8]) throws {
        self.privateKey = shared(privateKey)
        publicKey = try Ed25519.publicKey(seed: self.privateKey.bytes)
    }

    init(number: UInt8) throws {
        try self.init(privateKey: SHA256.digest([number, 0x6b]))
    }

    /// The pairs of tdlib's test of its key agreement (tde2e/test/e2e.cpp).
    static let alice = Result {
        try KeyPair(
            privateKey: bytes("f0d64658a7d10897e292cef8446f7fc47998c9d6ab2e246ca2af1570918f8258"))
    }
    static let bob = Result {
        try KeyPair(
            privateKey: bytes("60c1a8a30b6767df6ba14336cb9251c2242bc0668d27e6511396e8cbe9786878"))
    }
}

/// One phrase, split among three holders.
struct Split {
    let holders: [KeyPair]
    let envelopes: [ShareEnvelope]

    init(_ phrase: String = Phrases.about, seed: UInt64 = 1) throws {
        let random = SeededRandom(seed: seed)
        holders = try (0..<3).map { try KeyPair(number: UInt8($0)) }
        envelopes = try ShareEnvelope.seal(
            block: block(of: phrase), to: holders.map(\.publicKey), random: random)
    }

    func payloads() throws -> [SharedSecret] {
        try zip(envelopes, holders).map { envelope, holder in
            SharedSecret(try envelope.open(privateKey: holder.privateKey.bytes))
        }
    }
}

/// Names of a split and of a restoration.
enum Names {
    static let split = [UInt8](0..<16)
    static let restoration = [UInt8](100..<116)
}

/// One phrase, split into three files.
struct SplitFiles {
    let holders: [KeyPair]
    let files: [ShareFile]

    init(_ phrase: String = Phrases.about, id: [UInt8] = Names.split) throws {
        holders = try (0..<3).map { try KeyPair(number: UInt8($0)) }
        files = try Self.files(phrase, keys: holders.map(\.publicKey), id: id)
    }

    func released(_ index: Int, for client: KeyPair) throws -> ShareFile {
        try files[index].release(
            privateKey: holders[index].privateKey.bytes, for: Names.restoration,
            publicKey: client.publicKey, random: KernelRandom())
    }

    static func files(
        _ phrase: String = Phrases.about, keys: [[UInt8]], id: [UInt8] = Names.split,
        kind: String = "dash", made: UInt64 = 1_700_000_000
    ) throws -> [ShareFile] {
        try ShareFile.split(
            block(of: phrase), id: id,
            wallet: ShareFacts.Wallet(
                kind: kind, network: "mainnet", identity: [UInt8](repeating: 0xab, count: 32),
                words: 12),
            made: made,
            among: zip(["anna", "bert", "carl"], keys).map {
                ShareHolder(name: $0, publicKey: $1)
            },
            random: SeededRandom(seed: 5))
    }
}
