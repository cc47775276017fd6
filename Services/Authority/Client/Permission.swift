public import AuthorityMessages
public import Serving
public import Tokens
public import Wire

/// What an operation needs, as the asking service can tell from the session itself.
///
/// The authority decides the same from its live registry; asking it for what it must refuse would
/// only spend a proof.
public struct Permission: Equatable, Sendable {
    public var purpose: Purpose
    /// Nil only for what belongs to no namespace, which takes a settings session.
    public var namespace: Namespace?
    /// The wallet that is worked on; nil where it is not known yet.
    public var wallet: WalletID?

    public init(purpose: Purpose, namespace: Namespace?, wallet: WalletID? = nil) {
        self.purpose = purpose
        self.namespace = namespace
        self.wallet = wallet
    }

    /// Whether a session of this scope and origin may ask for it.
    public func isWithin(_ scope: Scope, origin: Origin) -> Bool {
        switch (purpose, scope) {
        case (.open, .resource(let namespace)): namespace == self.namespace
        // Whether a resource session may sign is the owner's policy, which the authority has.
        case (.sign, .resource(let namespace)): namespace == self.namespace
        case (.sign, .sign(let namespace, let wallet)),
            (.reveal, .reveal(let namespace, let wallet)):
            namespace == self.namespace && wallet == self.wallet
        case (.settings, .settings): origin == .passcode
        default: false
        }
    }
}

extension Call {
    /// The session of the request, where it may ask for so much.
    ///
    /// - Parameter other: a service that will be asked with the same token. One that does not name
    ///   it is refused here: there it would be refused when work was done already.
    @discardableResult
    public func require(
        _ permission: Permission, alsoFor other: ServiceName? = nil
    ) throws -> VerifiedSession {
        let session = try requireSession()
        guard permission.isWithin(session.claims.scope, origin: session.claims.origin) else {
            throw LeaseFault.notAuthorised
        }
        if let other, !session.claims.audience.contains(other) { throw SessionFault.invalid }
        return session
    }
}
