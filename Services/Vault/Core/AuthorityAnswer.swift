internal import AuthorityMessages
internal import VaultMessages
internal import Wire

/// What a refusal of the authority means to the vault's caller.
enum AuthorityAnswer {
    /// The same refusal where it speaks of the session; one of the vault's own else.
    ///
    /// Nothing was changed in any case: the vault changes something only under a lease.
    static func fault(of refusal: Refusal) -> Refusal {
        if SessionFault(rawValue: refusal.code) != nil { return refusal }
        switch BusFault(rawValue: refusal.code) {
        case .busy: return refusal
        case .forbidden: return VaultFault.notAuthorised.refusal
        case .some: return VaultFault.authorityUnreachable.refusal
        case nil: break
        }
        switch CredentialFault(rawValue: refusal.code) {
        case .notAuthorised: return VaultFault.notAuthorised.refusal
        case .some: return refusal
        case nil: return VaultFault.authorityUnreachable.refusal
        }
    }
}
