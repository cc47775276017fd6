internal import AuthorityMessages
internal import Tokens
internal import Wire

/// Who may have which session, and what a session may do: pure rules.
enum SessionRules {
    /// How long a session lives, in nanoseconds.
    static func lifetime(of scope: Scope) -> UInt64 {
        (scope.isProof ? 60 : 300) * 1_000_000_000
    }

    /// Whether a right passcode gives such a session to a peer of this role.
    ///
    /// Throws `bus.forbidden` for an extension that wants more than the app's lock, and
    /// `credential.not_authorised` for a scope that no passcode opens.
    static func check(_ scope: Scope, for role: Role) throws {
        if role.kind == .extension, scope != .appUnlock { throw BusFault.forbidden }
        if scope == .recover { throw CredentialFault.notAuthorised }
    }

    /// Owner-managed sessions open wallets, for work that its owner finishes; nothing else is.
    static func check(_ lifetime: Lifetime, for scope: Scope) throws(CredentialFault) {
        guard lifetime == .ownerManaged else { return }
        guard case .resource = scope else { throw .notAuthorised }
    }

    /// The services that a token of the scope may name: one, or the vault and a service that takes
    /// a phrase out of it or brings one in for the holder; none where only the authority takes it.
    static func check(_ audience: [ServiceName], for scope: Scope) throws(BusFault) {
        let named = Set(audience)
        guard named.count == audience.count else { throw .malformed }
        let fits: Bool
        switch scope {
        case .appUnlock, .managePasscode, .recover: fits = named.isEmpty
        case .settings: fits = named.isEmpty || isOneKeyUser(named)
        case .sign: fits = named == [.walletVault]
        case .resource:
            fits =
                isOneKeyUser(named) || named == [.walletVault, .backupShares]
                || named == [.walletVault, .migration]
        case .reveal: fits = named == [.walletVault] || named == [.walletVault, .backupShares]
        }
        guard fits else { throw .malformed }
    }

    private static func isOneKeyUser(_ named: Set<ServiceName>) -> Bool {
        named.count == 1 && named.isSubset(of: keyUsers)
    }

    /// Services that work under the authority's leave.
    private static let keyUsers: Set<ServiceName> = [.walletVault, .backupShares, .migration]

    /// Whether a session of the scope may be had without a passcode, where the access key needs
    /// none.
    static func mayBeUnprotected(_ scope: Scope) -> Bool { scope.namespace != nil }

    /// Whether a session of the scope may be had with a hardware token: for what opens wallets, and
    /// no proof, which is the passcode's.
    static func mayBeOfDevice(_ scope: Scope) -> Bool {
        if case .resource = scope { true } else { false }
    }

    /// Whether the session may change or remove the passcode.
    static func mayChangePasscode(_ claims: Claims) -> Bool {
        claims.origin == .passcode
            && (claims.scope == .managePasscode || claims.scope == .settings)
    }

    /// Whether the session may change the owner's settings.
    static func mayChangeSettings(_ claims: Claims) -> Bool {
        claims.origin == .passcode && claims.scope == .settings
    }

    /// Whether the session allows what a service asks for in its holder's name.
    static func allows(_ request: Derive, in claims: Claims, signPolicy: SignPolicy) -> Bool {
        switch request.purpose {
        case .open: isResource(claims.scope, of: request)
        case .sign:
            isProof(claims.scope, of: request, as: Scope.sign)
                || (signPolicy == .session && isResource(claims.scope, of: request))
        case .reveal: isProof(claims.scope, of: request, as: Scope.reveal)
        case .settings: mayChangeSettings(claims) && request.domains.isEmpty
        }
    }

    private static func isResource(_ scope: Scope, of request: Derive) -> Bool {
        guard let namespace = request.namespace else { return false }
        return scope == .resource(namespace)
    }

    private static func isProof(
        _ scope: Scope, of request: Derive, as proof: (Namespace, WalletID) -> Scope
    ) -> Bool {
        guard let namespace = request.namespace, let wallet = request.wallet else { return false }
        return scope == proof(namespace, wallet)
    }

    /// Whether the gate must be open: for what opens wallets, not for what keeps the credential.
    static func needsGate(_ scope: Scope) -> Bool { scope.namespace != nil }
}

/// Which service a derived key is for; nobody else gets it.
enum KeyDomain {
    private static let holders: [String: ServiceName] = [
        "telegram.wallet.dek.v1": .walletVault,
        "coffer.wallet.identity.v1": .walletVault,
        "coffer.backup.restoration.v1": .backupShares,
        "coffer.backup.manifest.v1": .backupShares,
    ]

    static func belongs(_ domain: String, to service: ServiceName) -> Bool {
        domain.utf8.allSatisfy { $0 < 0x80 } && holders[domain] == service
    }
}
