internal import Crypto
internal import Secrets
internal import VaultMessages
internal import Wire

/// What the store has of a wallet in clear.
struct WalletRecord: Equatable, Sendable {
    var owner: Owner
    var namespace: Namespace
    var wallet: WalletID
    /// Its kind, and its network where the kind has one.
    var family: WalletFamily
    var label: String
    var words: Int
    /// See ``WalletKind``.
    var identity: [UInt8]
    /// Over all of the above; see ``NamespaceKeys/mac(of:)``.
    var mac: [UInt8]

    /// What a person is told of it.
    func description(verified: Bool) -> WalletDescription {
        WalletDescription(
            wallet: wallet, kind: family.kind, network: family.network, label: label,
            identity: identity, verified: verified, words: words)
    }

    /// All but the MAC as bytes, each part with its length (four bytes, most significant first).
    ///
    /// The network is the last part and stands there only for a kind that has one, so that rows of
    /// stores without networks keep the MAC that they have.
    var bytes: [UInt8] {
        var parts = [
            Array(label.utf8), Array(owner.text.utf8), Array(namespace.text.utf8),
            Array(wallet.text.utf8), Array(family.kind.text.utf8), identity,
            Self.bigEndian(words),
        ]
        if let network = family.network { parts.append(Array(network.text.utf8)) }
        return parts.flatMap(Self.withLength)
    }

    /// A part of what a MAC is over.
    static func withLength(_ part: [UInt8]) -> [UInt8] { bigEndian(part.count) + part }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(clamping: number).bigEndian) { Array($0) }
    }
}

/// A row, or a row and its envelopes, in 16 bytes: the first of SHA-256 over all that stands there.
///
/// So the vault can remember a hundred thousand rows as they stood.
struct RowDigest: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    init(_ record: WalletRecord) { self.init(record.bytes + record.mac) }

    /// Of the row and of what lies in both envelopes.
    init(_ record: WalletRecord, _ documents: EnvelopeDocuments) {
        let parts = [record.bytes, record.mac, documents.phrase ?? [], documents.seed ?? []]
        self.init(parts.flatMap(WalletRecord.withLength))
    }

    private init(_ bytes: [UInt8]) {
        let digest = SHA256.digest(bytes)
        func number(_ range: Range<Int>) -> UInt64 {
            digest[range].reduce(0) { $0 << 8 | UInt64($1) }
        }
        high = number(0..<8)
        low = number(8..<16)
    }
}

/// What lies in the two envelopes of a wallet; nil where one is gone.
struct EnvelopeDocuments {
    let phrase: [UInt8]?
    let seed: [UInt8]?
}

/// The two envelopes of a wallet.
///
/// The seed has one of its own, so that a signature does not go the long way from the phrase to it.
enum EnvelopeSlot: String, CaseIterable {
    case phrase
    case seed

    /// Under which name the envelope lies in the store.
    func reference(of wallet: WalletID) -> String { "wallet:\(wallet.text):\(rawValue)" }
}
