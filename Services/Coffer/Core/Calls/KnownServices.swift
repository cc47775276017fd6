internal import AuthorityMessages
internal import LimiterMessages
internal import MigrationMessages
internal import SharesMessages
internal import VaultMessages
internal import Wire

/// The services of an installation.
enum KnownServices {
    /// In the order in which they start.
    static let tags: [any ServiceTag.Type] = [
        Limiter.self, Authority.self, Vault.self, Shares.self, Migration.self,
    ]

    static var names: [ServiceName] { tags.map { $0.service } }

    /// A service by its name or by what its methods begin with.
    static func tag(_ text: String) -> (any ServiceTag.Type)? {
        tags.first { $0.service.text == text || $0.service.prefix == text }
    }

    /// What the error of a code means; nil for a code of another version.
    static func meaning(of code: String) -> String? {
        let catalogues = [
            BusFault.catalogue, SessionFault.catalogue, StorageFault.catalogue,
            CredentialFault.catalogue, DeviceKeyFault.catalogue, LeaseFault.catalogue,
            VaultFault.catalogue,
            LimiterFault.catalogue, SharesFault.catalogue, MigrationFault.catalogue,
            ClientFault.catalogue,
        ]
        return catalogues.joined().first { $0.code == code }?.meaning
    }
}
