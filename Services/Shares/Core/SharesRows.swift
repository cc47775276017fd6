internal import Serving
internal import SharesMessages
internal import VaultMessages
internal import Wire

/// What the store has of a split.
struct SplitRow: Equatable, Sendable {
    var owner: Owner
    var namespace: Namespace
    /// As it was made; whether it is confirmed says ``mac``.
    var manifest: Manifest
    /// Nil until the split is confirmed; see ``NamespaceKeys/mac(of:)``.
    var mac: [UInt8]?
}

/// Where a restoration is.
struct RestorationAddress: Hashable, Sendable {
    var owner: Owner
    var namespace: Namespace
    var restoration: RestorationID
}

/// What the store has of a restoration.
struct RestorationRow: Equatable, Sendable {
    var address: RestorationAddress
    /// Ed25519, 32 bytes.
    var publicKey: [UInt8]
    /// Its private key; see ``NamespaceKeys/seal(_:for:random:)``.
    var sealed: [UInt8]
    /// In seconds since 1970.
    var begun: UInt64

    func description(intact: Bool) -> RestorationDescription {
        RestorationDescription(
            restoration: address.restoration, publicKey: publicKey, begun: begun, intact: intact)
    }
}

/// A wallet that the vault was asked to take in, and of whose coming the store does not know yet.
struct UnfinishedImport: Equatable, Sendable {
    var address: RestorationAddress
    /// What the vault knows the import by.
    var key: IdempotencyKey
    /// The change that waits for it.
    var ticket: ChangeTicket
    var wallet: SharedWallet
}
