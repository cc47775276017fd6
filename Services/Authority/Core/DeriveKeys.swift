internal import AuthorityMessages
internal import Crypto
internal import Secrets
internal import Serving
internal import Tokens
internal import Wire

extension AuthorityService {
    /// Gives a service the keys for one piece of work, and a lease to do it under.
    ///
    /// All of it is one step: no revocation comes between the asking and the lease.
    func derive(_ call: Call<Derive>) throws -> Answer<Derive> {
        let request = call.request
        let session = try session(of: request.holder, in: call)
        guard case .service(let service) = call.peer.role,
            request.domains.allSatisfy({ KeyDomain.belongs($0, to: service) })
        else { throw BusFault.forbidden }
        let claims = session.claims
        let policy = try store.signPolicy(of: call.owner)
        guard SessionRules.allows(request, in: claims, signPolicy: policy) else {
            throw CredentialFault.notAuthorised
        }
        guard !SessionRules.needsGate(claims.scope) || registry.isGateOpen(of: call.owner) else {
            throw CredentialFault.locked
        }
        let keys = try keys(request, from: session)
        guard let lease = registry.lease(claims.session) else { throw SessionFault.ended }
        return Answer(
            Derive.Reply(leaseMilliseconds: lease.milliseconds, reusable: lease.reusable),
            attachments: keys)
    }

    private func keys(
        _ request: Derive, from session: SessionRegistry.Session
    ) throws -> [SharedSecret] {
        guard !request.domains.isEmpty else { return [] }
        guard let accessKey = session.accessKey, let namespace = request.namespace else {
            throw CredentialFault.notAuthorised
        }
        return try request.domains.map { domain in
            SharedSecret(
                try HKDF.sha256(
                    key: accessKey.bytes, salt: Array(namespace.text.utf8),
                    info: Array(domain.utf8), count: 32))
        }
    }

    /// Says that a holder's session lives.
    func checkSession(_ call: Call<CheckSession>) throws -> Answer<CheckSession> {
        _ = try session(of: call.request.holder, in: call)
        return Answer(Empty())
    }

    func tokenKeys(_ call: Call<AskTokenKeys>) -> Answer<AskTokenKeys> {
        let key = registry.tokenKey
        return Answer(
            AskTokenKeys.Reply(
                run: registry.run,
                keys: [AskTokenKeys.Key(id: key.id, publicKey: key.publicKey)]))
    }
}
