internal import AuthorityMessages
internal import Serving
internal import Tokens
internal import VaultMessages
internal import Wire

/// What an operation needs, as the vault can tell from the session itself.
///
/// The authority decides the same from its live registry; asking it for what it must refuse would
/// only spend a proof.
struct Permission: Equatable, Sendable {
    var purpose: Purpose
    var namespace: Namespace
    /// The wallet that is worked on; nil where it is not known yet.
    var wallet: WalletID?

    /// Whether a session of this scope and origin may ask for it.
    func isWithin(_ scope: Scope, origin: Origin) -> Bool {
        switch (purpose, scope) {
        case (.open, .resource(let namespace)): namespace == self.namespace
        // Whether a resource session may sign is the owner's policy, which the authority has.
        case (.sign, .resource(let namespace)): namespace == self.namespace
        case (.sign, .sign(let namespace, let wallet)),
            (.reveal, .reveal(let namespace, let wallet)):
            namespace == self.namespace && wallet == self.wallet
        case (.destroy, .settings): origin == .passcode
        default: false
        }
    }
}

extension Call {
    /// The session of the request, where it may ask for so much.
    @discardableResult
    func require(_ permission: Permission) throws -> VerifiedSession {
        let session = try requireSession()
        guard permission.isWithin(session.claims.scope, origin: session.claims.origin) else {
            throw VaultFault.notAuthorised
        }
        return session
    }
}
