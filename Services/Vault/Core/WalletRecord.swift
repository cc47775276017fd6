internal import Secrets
internal import VaultMessages
internal import Wire

/// What the store has of a wallet in clear.
struct WalletRecord: Equatable, Sendable {
    var owner: Owner
    var namespace: Namespace
    var wallet: WalletID
    var kind: WalletKind
    var label: String
    var words: Int
    /// For `bip39` the compressed BIP-32 master public key, 33 bytes.
    var identity: [UInt8]
    /// Over all of the above; see ``NamespaceKeys/mac(of:)``.
    var mac: [UInt8]

    /// What a person is told of it.
    func description(verified: Bool) -> WalletDescription {
        WalletDescription(
            wallet: wallet, kind: kind, label: label, identity: identity, verified: verified,
            words: words)
    }
}

/// The two envelopes of a wallet.
///
/// The seed has one of its own, so that a signature does not pay the 2,048 rounds that lead from
/// the phrase to it.
enum EnvelopeSlot: String, CaseIterable {
    case phrase
    case seed

    /// Under which name the envelope lies in the store.
    func reference(of wallet: WalletID) -> String { "wallet:\(wallet.text):\(rawValue)" }
}
