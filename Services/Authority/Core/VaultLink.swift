internal import AuthorityMessages
internal import Loop
internal import Serving
internal import VaultMessages
internal import Wire

/// The way to the vault, which is asked one thing.
@ServiceLoop
struct VaultLink {
    private let client: ServiceClient
    /// How long an answer may take.
    private let timeoutMilliseconds: UInt64

    init(client: ServiceClient, timeoutMilliseconds: UInt64) {
        self.client = client
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    /// Whether the vault has anything of the owner.
    ///
    /// Throws `credential.vault_unreachable` for whatever is no answer to that, an error included.
    func knows(_ owner: Owner) async throws(CredentialFault) -> Bool {
        let options = CallOptions(owner: owner, timeoutMilliseconds: timeoutMilliseconds)
        do throws(Refusal) {
            return try await !client.call(AskWhetherEmpty(), options: options).reply.empty
        } catch {
            throw .vaultUnreachable
        }
    }
}
