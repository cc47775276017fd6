internal import AuthorityMessages
internal import Wire

/// What a refusal of the authority means to the caller of the service that asked.
enum AuthorityAnswer {
    /// The same refusal where it speaks of the session; one about leases else.
    ///
    /// Nothing was changed in any case: a service changes something only under a lease.
    ///
    /// - Parameter isSpending: whether the authority was asked to spend a proof, so that without an
    ///   answer nobody knows whether it did.
    static func fault(of refusal: Refusal, isSpending: Bool = false) -> Refusal {
        if SessionFault(rawValue: refusal.code) != nil { return refusal }
        switch BusFault(rawValue: refusal.code) {
        case .busy: return refusal
        case .expired where isSpending, .lost where isSpending, .badReply where isSpending:
            return LeaseFault.unanswered.refusal
        case .forbidden: return notAdmitted(.notAuthorised)
        case .unadmitted: return notAdmitted(.authorityUnreachable)
        case .some: return LeaseFault.authorityUnreachable.refusal
        case nil: break
        }
        switch CredentialFault(rawValue: refusal.code) {
        case .notAuthorised: return LeaseFault.notAuthorised.refusal
        case .some: return refusal
        case nil: return LeaseFault.authorityUnreachable.refusal
        }
    }

    /// The authority does not let the service itself ask: no session of the caller's would help.
    private static func notAdmitted(_ fault: LeaseFault) -> Refusal {
        var refusal = fault.refusal
        refusal.message =
            "The credential authority does not let this service ask it: the service's entry in "
            + "the folder of peers is missing or was changed. `coffer init` makes one that is "
            + "missing."
        return refusal
    }
}
